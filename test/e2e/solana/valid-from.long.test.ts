import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { type SolanaScenario, startSolanaScenario, transfer } from '../../support/solana-scenario.ts'

const HOUR_MS = 3_600_000

let clock: AdjustableClock
let story: SolanaScenario

beforeAll(async () => {
  clock = createAdjustableClock()
  story = await startSolanaScenario({ clock })
}, 120_000)
afterAll(() => story.stop())

test('a transfer waits for its time, and others overtake it', async () => {
  const valid_from = new Date(clock.now() + HOUR_MS).toISOString()
  const later = await story.send({ ...transfer(5_000_000n), valid_from })
  const now = await story.send(transfer(6_000_000n))
  await story.tickUntil(now.id, 'confirmed')
  expect(await story.get(later.id)).toMatchObject({ status: 'pending', valid_from, attempts: [] })
  clock.advance(HOUR_MS)
  await story.tickUntil(later.id, 'confirmed')
})
