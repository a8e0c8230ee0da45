import { TransactionEnvelope } from '@stellar/stellar-sdk/xdr'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { startService } from '../../support/service.ts'
import {
  MAIN,
  payment,
  RECEIVER,
  type StellarScenario,
  stellarConfig,
  stellarScenarioOf,
  XLM,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

const clock = createAdjustableClock()
let node: FaultyNode
let scenario: StellarScenario

beforeAll(async () => {
  const ledger = await startLedger({ closeEveryMs: 'manual', now: clock.now })
  ledger.fund(MAIN.publicKey(), 1_000n * XLM)
  ledger.fund(RECEIVER, 100n * XLM)
  node = await startFaultyNode(ledger.url)
  const config = stellarConfig({ urls: [node.url], passphrase: ledger.passphrase })
  scenario = stellarScenarioOf(ledger, await startService({ ...config, clock }))
})
afterAll(async () => {
  await scenario.stop()
  await node.stop()
})

/** A gateway in front of the node refuses this amount in words that no one knows. */
const refuseAmount = (stroops: bigint) => {
  node.habits = {
    refuse: ({ method, params }) => {
      if (method !== 'sendTransaction') return undefined
      const { transaction } = params as unknown as { transaction: string }
      const envelope = TransactionEnvelope.fromXdr(transaction, 'base64')
      return JSON.stringify(envelope, (_key, value) =>
        typeof value === 'bigint' ? `${value}` : value,
      ).includes(`"amount":"${stroops}"`)
        ? { code: -32_000, message: 'the stars are not right' }
        : undefined
    },
  }
}

/** Lets seconds pass, with a ledger in five, until the transaction has ended. */
async function passUntilFinal(id: string) {
  let seconds = 0
  const ended = await until(
    async () => {
      clock.advance(1_000)
      seconds += 1
      if (seconds % 5 === 0) scenario.ledger.close()
      return scenario.get(id)
    },
    ({ status }) => status === 'failed' || status === 'confirmed',
    { timeoutMs: 60_000 },
  )
  return { ended, seconds }
}

test('a payment that a gateway refuses in unknown words is overtaken after one life, and an event tells it', async () => {
  const { ledger, service, send, get } = scenario
  refuseAmount(11n)
  const refused = await send(payment(11n))
  const next = await send(payment(12n))
  let seconds = 0
  const pass = async (id: string, wanted: (status: string) => boolean, most: number) => {
    const begun = seconds
    await until(
      async () => {
        clock.advance(1_000)
        seconds += 1
        if (seconds % 5 === 0) ledger.close()
        return get(id)
      },
      ({ status }) => wanted(status) || seconds - begun >= most,
      { timeoutMs: 60_000 },
    )
    return get(id)
  }
  expect((await pass(next.id, (status) => status === 'confirmed', 240)).status).toBe('confirmed')
  const waiting = await get(refused.id)
  expect(waiting.status_reason).toMatch(/the stars are not right/)
  expect(['pending', 'sent']).toContain(waiting.status)
  const events = await service.api<object[]>(
    'GET',
    `/events?transaction_id=${refused.id}&type=transaction_stuck`,
  )
  expect(events.body.data).toHaveLength(1)
  // It is still wanted.
  node.habits = undefined
  expect((await pass(refused.id, (status) => status === 'confirmed', 300)).status).toBe('confirmed')
})

test('a payment that the network refuses for a reason that may pass ends after three lives', async () => {
  const { send } = scenario
  // TransactionResult: a fee of 0 is charged, txINTERNAL_ERROR, no extension.
  node.habits = {
    answer: ({ method }) =>
      method === 'sendTransaction'
        ? { result: { status: 'ERROR', errorResultXdr: 'AAAAAAAAAAD////1AAAAAA==' } }
        : undefined,
  }
  onTestFinished(() => {
    node.habits = undefined
  })
  const { id } = await send(payment(13n))
  const { ended, seconds } = await passUntilFinal(id)
  expect(ended).toMatchObject({ status: 'failed' })
  expect(ended.attempts).toHaveLength(3)
  expect(ended.status_reason).toMatch(/refused every version of it until it expired \(tx_internal_error\)/)
  expect(seconds).toBeLessThan(600)
  node.habits = undefined
  const next = await send(payment(14n))
  expect((await passUntilFinal(next.id)).ended.status).toBe('confirmed')
})
