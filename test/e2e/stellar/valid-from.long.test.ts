import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { payment, type StellarScenario, startStellarScenario } from '../../support/stellar-scenario.ts'

const HOUR_MS = 3_600_000

let clock: AdjustableClock
let story: StellarScenario

beforeAll(async () => {
  clock = createAdjustableClock()
  story = await startStellarScenario({ clock })
}, 120_000)
afterAll(() => story.stop())

const inMs = (ms: number) => new Date(clock.now() + ms).toISOString()

test('a payment waits without a sequence number for its time, and others overtake it', async () => {
  const valid_from = inMs(HOUR_MS)
  const later = await story.send({ ...payment(5n), valid_from })
  const now = await story.send(payment(6n))
  await story.closeUntil(now.id, 'confirmed')
  const waiting = await story.get(later.id)
  expect(waiting).toMatchObject({ status: 'pending', valid_from, attempts: [] })
  expect(waiting.sequence_number).toBeUndefined()
  clock.advance(HOUR_MS)
  await story.closeUntil(later.id, 'confirmed')
})

test('null counts as absent', async () => {
  const sent = await story.send({ ...payment(7n), valid_from: null })
  await story.closeUntil(sent.id, 'confirmed')
})
