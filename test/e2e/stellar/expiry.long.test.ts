import { Account, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { startFaultyNode } from '../../support/faulty-node.ts'
import { startService } from '../../support/service.ts'
import {
  keypairOf,
  MAIN,
  payment,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
  stellarConfig,
  stellarScenarioOf,
  XLM,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

const clock = createAdjustableClock()
let scenario: StellarScenario

beforeAll(async () => {
  scenario = await startStellarScenario({ clock, ledger: { now: clock.now } })
})
afterAll(() => scenario.stop())

/** Further than any signed version lasts, in seconds. */
const LATER = 200

describe('what no ledger includes in time', () => {
  test('is signed again with the same sequence number while valid_until has not passed', async () => {
    const { ledger, send, reach, get, closeUntil } = scenario
    const { id } = await send(payment(10n))
    const first = await reach(id, 'submitted')
    ledger.setCapacity(0)
    ledger.close({ seconds: LATER })
    const reSigned = await until(
      () => get(id),
      ({ attempts }) => attempts.length === 2,
    )
    expect(reSigned.sequence_number).toBe(first.sequence_number)
    expect(reSigned.attempts).toMatchObject([{ outcome: 'expired' }, { kind: 're_sign' }])
    ledger.setCapacity(1_000)
    const confirmed = await closeUntil(id, 'confirmed')
    expect(ledger.included(first.hash ?? '')).toBeUndefined()
    expect(confirmed.hash).not.toBe(first.hash)
  })

  test('expires when valid_until is over, by the proof of the ledger, and frees its sequence number', async () => {
    const { ledger, service, send, reach, closeUntil } = scenario
    const before = ledger.account(RECEIVER)?.balance
    // The ledger's clock has run ahead of ours; it is the ledger's time that counts.
    const ledgerTime = ledger.ledgers.at(-1)?.closeTime ?? 0
    const validUntil = new Date((ledgerTime + 60) * 1_000).toISOString()
    const { id } = await send(payment(20n, { valid_until: validUntil }))
    const submitted = await reach(id, 'submitted')
    expect(submitted.valid_until).toBe(validUntil)
    ledger.setCapacity(0)
    ledger.close({ seconds: 61 })
    ledger.setCapacity(1_000)
    const expired = await reach(id, 'expired')
    expect(expired.status_reason).toMatch(/proved/)
    expect(ledger.account(RECEIVER)?.balance).toBe(before)
    const next = await send(payment(30n))
    const confirmed = await closeUntil(next.id, 'confirmed')
    expect(confirmed.sequence_number).toBe(submitted.sequence_number)
    expect(ledger.account(MAIN.publicKey())?.sequence).toBe(BigInt(confirmed.sequence_number ?? 0))
    const events = await service.api('GET', `/relayers/main/transactions/${id}`)
    expect(events.status).toBe(200)
  })

  test('is broadcast again when the queue of the network has lost it', async () => {
    const { ledger, send, reach, closeUntil } = scenario
    const { id } = await send(payment(40n))
    await reach(id, 'submitted')
    ledger.dropQueue()
    expect(ledger.queue()).toHaveLength(0)
    clock.advance(31_000)
    await until(
      async () => ledger.queue().length,
      (waiting) => waiting === 1,
    )
    await closeUntil(id, 'confirmed')
  })
})

describe('ledgers that share a second (CAP-88)', () => {
  test('leave a transaction open in the last second of its valid_until, and it counts when the next one has it', async () => {
    const ledger = await startLedger({ closeEveryMs: 'manual', protocolVersion: 30 })
    ledger.fund(MAIN.publicKey(), 1_000n * XLM)
    ledger.fund(RECEIVER, 100n * XLM)
    const gate = await startFaultyNode(ledger.url)
    onTestFinished(gate.stop)
    const config = stellarConfig({ urls: [gate.url], passphrase: ledger.passphrase })
    const own = stellarScenarioOf(ledger, await startService(config))
    onTestFinished(own.stop)
    const now = () => ledger.ledgers.at(-1)?.closeTime ?? 0
    const end = now() + 60
    const { id } = await own.send(payment(50n, { valid_until: new Date(end * 1_000).toISOString() }))
    await own.reach(id, 'submitted')
    const [waiting] = ledger.queue()
    ledger.dropQueue()
    ledger.close({ seconds: end - now() })
    // Every look at the chain asks for the newest ledger, and then for what it decides.
    const looks = () => Promise.resolve(gate.calls.get('getTransaction') ?? 0)
    const before = await looks()
    await until(looks, (asked) => asked >= before + 5)
    expect(await own.get(id)).toMatchObject({ status: 'submitted' })
    ledger.nominate(waiting?.envelope.toXdr('base64') ?? '')
    ledger.close({ seconds: 0 })
    expect(now()).toBe(end)
    expect(await own.reach(id, 'confirmed')).toMatchObject({ attempts: [{ outcome: 'mined' }] })
    expect(ledger.account(RECEIVER)?.balance).toBe(100n * XLM + 50n)
  })
})

test('a valid_until that the nodes of the network would refuse is refused, with the shortest that they take', async () => {
  const ledger = await startLedger({ closeEveryMs: 'manual' })
  ledger.fund(MAIN.publicKey(), 1_000n * XLM)
  const { networks, ...config } = stellarConfig({ urls: [ledger.url], passphrase: ledger.passphrase })
  const ledgerTime = networks?.map((network) => ({ ...network, average_blocktime_ms: 5_000 }))
  const own = stellarScenarioOf(
    ledger,
    await startService({ ...config, ...(ledgerTime && { networks: ledgerTime }) }),
  )
  onTestFinished(own.stop)
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
  for (const ms of [1_200, 3_000, 6_000, 10_000]) {
    const refused = await own.post(payment(1n, { valid_until: inMs(ms) }))
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request'])
    expect(refused.body.error).toMatch(/^valid_until: at least 11 s from now are expected \(20/)
  }
  const externally = new TransactionBuilder(new Account(RECEIVER, '7'), {
    fee: '100',
    networkPassphrase: ledger.passphrase,
  })
    .addOperation(Operation.bumpSequence({ bumpTo: '0' }))
    .setTimebounds(0, Math.floor(Date.now() / 1_000) + 5)
    .build()
  externally.sign(keypairOf('receiver'))
  const body = { network: 'standalone', transaction_xdr: externally.toXDR(), fee_bump: true }
  const refused = await own.post(body)
  expect(refused.body.error).toMatch(/^transaction_xdr: at least 11 s from now are expected/)

  // What is accepted is not refused by the node for its end.
  const { id } = await own.send(payment(1n, { valid_until: inMs(60_000) }))
  await own.reach(id, 'submitted')
})
