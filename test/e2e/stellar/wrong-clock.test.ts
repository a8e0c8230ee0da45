import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAdjustableClock } from '../../support/clock.ts'
import {
  MAIN,
  payAs,
  payment,
  RECEIVER,
  type StellarScenario,
  startStellarScenario,
} from '../../support/stellar-scenario.ts'

const HOUR_MS = 3_600_000

const clock = createAdjustableClock()
let scenario: StellarScenario

beforeAll(async () => {
  scenario = await startStellarScenario({ clock, relayer: { policies: { shared_account: true } } })
})
afterAll(() => scenario.stop())

// Found by the simulator (seed 262001): the proof had to reach back an hour beyond everything that the ledger remembers.
test('a clock that was an hour behind does not decide how far back a proof has to reach', async () => {
  const { ledger, send, reach } = scenario
  const before = ledger.account(RECEIVER)?.balance ?? 0n
  clock.step(-HOUR_MS)
  const { id } = await send(payment(10n))
  await reach(id, 'submitted')
  clock.step(HOUR_MS)
  // A third party with the same key uses its sequence number, so that only the history tells what was included.
  ledger.dropQueue()
  expect(await payAs(ledger, MAIN, '100')).toBe('PENDING')
  ledger.close()
  ledger.close({ seconds: 200 })
  const confirmed = await reach(id, 'confirmed', () => {
    clock.advance(5_000)
    ledger.close()
  })
  expect(confirmed.attempts.map(({ outcome }) => outcome)).toEqual(['superseded', 'mined'])
  expect(ledger.account(RECEIVER)?.balance).toBe(before + 10n + 10_000_000n)
})
