import { afterEach, expect, test } from 'vitest'
import type { PooledClient, RpcReply } from '../../../../src/chains/rpc/rpc.ts'
import { createMarketWatch } from '../../../../src/chains/stellar/prepare/fees.ts'
import { createHurriedClock } from '../../../support/hurried-clock.ts'

const FRESH_MS = 3_000

let fees = { p90: '100' }
let closeTime: unknown = '1000'
let asked = 0

afterEach(() => {
  fees = { p90: '100' }
  closeTime = '1000'
  asked = 0
})

function watch() {
  const reply = (result: unknown): RpcReply => ({ kind: 'result', result })
  const client = {
    sendAsOf: () => {
      asked += 1
      const replies = [
        reply({ inclusionFee: fees, sorobanInclusionFee: { p90: '0' } }),
        reply({ latestLedgerCloseTime: closeTime }),
      ]
      return Promise.resolve(replies.map((one) => ({ reply: one, behind: false })))
    },
  } as unknown as PooledClient
  const clock = createHurriedClock()
  return { clock, ...createMarketWatch({ client, clock, freshForMs: FRESH_MS }) }
}

const FIRST = { kind: 'ok', value: { classic: 100n, soroban: 100n, closeTime: 1_000n } }

test('is asked once for each ledger, however many want to know', async () => {
  const { market, sawLedger } = watch()
  expect(await Promise.all([market(), market()])).toEqual([FIRST, FIRST])
  sawLedger(1_000n)
  await market()
  expect(asked).toBe(1)
  sawLedger(1_005n)
  await market()
  expect(asked).toBe(2)
})

test('is asked again after a while, when nobody tells of ledgers', async () => {
  const { market, clock } = watch()
  await market()
  await clock.sleep(FRESH_MS)
  await market()
  expect(asked).toBe(2)
})

test.each([
  ['0', 100n],
  ['99', 100n],
  ['100', 100n],
  ['101', 202n],
  ['250000', 500_000n],
])('ledgers that charged %s: %s is bid', async (p90, classic) => {
  fees = { p90 }
  expect(await watch().market()).toMatchObject({ kind: 'ok', value: { classic } })
})

test('what cannot be read is unknown, and not remembered', async () => {
  const { market } = watch()
  closeTime = {}
  expect(await market()).toMatchObject({ kind: 'unknown' })
  closeTime = '1000'
  expect(await market()).toEqual(FIRST)
})
