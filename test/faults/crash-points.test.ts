import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CrashPoint, crash } from './crash.ts'
import { createLedger } from './ledger.ts'
import type { Stage } from './stage.ts'
import { examine, settle, takeStock } from './verify.ts'
import { startWorld, type World } from './world.ts'

let world: World

beforeAll(async () => {
  world = await startWorld({ killable: true, endpoints: 1 })
})
afterAll(() => world.stop())

const SIGNED_CALL = 'eth_sendRawTransaction'

/** The points of each change in their order. Where a call only reads, dying before and after it leaves the same behind. */
const POINTS: Readonly<Record<'send' | 'replace' | 'cancel', readonly CrashPoint[]>> = {
  send: [
    { at: 'before', method: 'eth_feeHistory' },
    { at: 'before', method: 'eth_estimateGas' },
    { at: 'before', method: 'eth_getBalance' },
    { at: 'answer' },
    { at: 'before', method: 'eth_getTransactionCount' },
    { at: 'before', method: SIGNED_CALL },
    { at: 'after', method: SIGNED_CALL },
    { at: 'status', status: 'sent' },
    { at: 'status', status: 'submitted' },
    { at: 'before', method: 'eth_getTransactionReceipt' },
    { at: 'status', status: 'mined' },
  ],
  replace: [
    { at: 'before', method: 'eth_feeHistory' },
    { at: 'before', method: 'eth_estimateGas' },
    { at: 'before', method: SIGNED_CALL },
    { at: 'after', method: SIGNED_CALL },
    { at: 'answer' },
    { at: 'before', method: 'eth_getTransactionReceipt' },
  ],
  cancel: [
    { at: 'before', method: 'eth_feeHistory' },
    { at: 'before', method: SIGNED_CALL },
    { at: 'after', method: SIGNED_CALL },
    { at: 'answer' },
    { at: 'before', method: 'eth_getTransactionReceipt' },
  ],
}

const TABLE = (['send', 'replace', 'cancel'] as const).flatMap((change) =>
  POINTS[change].map((point) => ({ change, point, title: `${change}: ${describePoint(point)}` })),
)

describe('killed between two steps, nothing is lost, nothing is doubled and no nonce is left out', () => {
  test.each(TABLE)('$title', async ({ change, point }) => {
    const before = await takeStock(world)
    const stage: Stage = { world, ledger: createLedger(), setWeather: () => {} }
    await crash(stage, change, point)
    const stuck = await settle(world, before.known)
    const { records, violations } = await examine(stage, before)
    expect([...stuck, ...violations]).toEqual([])
    // A request that died unanswered may have been stored or not; never twice.
    expect(records.length).toBeLessThanOrEqual(1)
  })
})

function describePoint(point: CrashPoint): string {
  if (point.at === 'answer') return 'right after the answer'
  if (point.at === 'status') return `as soon as it is ${point.status}`
  return `${point.at} the node has done ${point.method}`
}
