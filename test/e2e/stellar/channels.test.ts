import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import type { Transaction } from '../../support/service.ts'
import {
  MAIN,
  payment,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

let scenario: StellarScenario

beforeAll(async () => {
  scenario = await startStellarScenario({ relayer: { channels: 3 } })
})
afterAll(() => scenario.stop())

async function channelsOf({ service }: StellarScenario): Promise<readonly string[]> {
  const { body } = await service.api<Schemas['StellarRelayer'][]>('GET', '/relayers')
  return body.data[0]?.channels ?? []
}

describe('channel accounts', () => {
  test('are opened by the service, and the list shows how', async () => {
    const { ledger, send, closeUntil, service } = scenario
    const channels = await channelsOf(scenario)
    expect(channels).toHaveLength(3)
    expect(channels.map((address) => ledger.account(address))).toEqual([undefined, undefined, undefined])
    const { id } = await send(payment(1n))
    await closeUntil(id, 'confirmed')
    await until(
      async () => {
        ledger.close()
        return channels.map((address) => ledger.account(address) !== undefined)
      },
      (open) => open.every(Boolean),
    )
    const { body } = await service.api<Transaction[]>('GET', '/relayers/main/transactions')
    expect(body.data.some(({ status_reason }) => status_reason?.includes('channel accounts'))).toBe(true)
  })

  test('let four transactions into one ledger, each once, paid by the relayer', async () => {
    const { ledger, send, reach, service } = scenario
    await until(
      async () =>
        (await service.api<object[]>('GET', '/relayers/main/transactions?status=submitted')).body.data.length,
      (open) => {
        ledger.close()
        return open === 0
      },
    )
    const channels = await channelsOf(scenario)
    const balances = channels.map((address) => ledger.account(address)?.balance)
    const before = ledger.account(RECEIVER)?.balance ?? 0n
    const sent = await Promise.all([1n, 2n, 4n, 8n].map((amount) => send(payment(amount))))
    const submitted = await Promise.all(sent.map(({ id }) => reach(id, 'submitted')))
    expect(new Set(submitted.map(({ source_account }) => source_account))).toEqual(
      new Set([MAIN.publicKey(), ...channels]),
    )
    const { transactions } = ledger.close()
    expect(transactions).toHaveLength(4)
    await Promise.all(sent.map(({ id }) => reach(id, 'confirmed')))
    expect(ledger.account(RECEIVER)?.balance).toBe(before + 15n)
    expect(channels.map((address) => ledger.account(address)?.balance)).toEqual(balances)
  })

  test('come back when their transaction is over, however it ended', async () => {
    const { ledger, send, reach, cancel, closeUntil } = scenario
    for (const round of [1, 2]) {
      const sent = await Promise.all([1, 2, 3, 4].map((amount) => send(payment(round * amount))))
      await Promise.all(sent.map(({ id }) => reach(id, 'submitted')))
      await Promise.all(sent.slice(0, 2).map(({ id }) => cancel(id)))
      ledger.close()
      await Promise.all(sent.map(({ id }, index) => closeUntil(id, index < 2 ? 'canceled' : 'confirmed')))
    }
  })
})
