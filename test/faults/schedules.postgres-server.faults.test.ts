import { expect, test } from 'vitest'
import { runSchedules } from '../../scripts/faults/schedules/campaign.ts'

/** Far more than they take on a busy machine. */
const DEADLINE_MS = 420_000

/** Few of the histories of `npm run faults -- --schedules --kills --fail-over --steps 2`, which replays a seed that fails. */
const CAMPAIGN = { first: 5_000, count: 12, steps: 2 }

test(
  'each time of a schedule is decided once, and sent at most once, while two processes are killed and the database fails over',
  async () => {
    const { first, count, steps } = CAMPAIGN
    const broken: string[] = []
    let sent = 0
    await runSchedules({
      seeds: Array.from({ length: count }, (_, index) => first + index),
      steps,
      kills: true,
      processes: 2,
      storage: 'replicated',
      onHistory: ({ seed, outcomes, violations }) => {
        sent += outcomes.sent
        broken.push(...violations.map((violation) => `seed ${seed}: ${violation}`))
        return true
      },
    })
    expect(broken).toEqual([])
    expect(sent).toBeGreaterThan(2 * count)
  },
  DEADLINE_MS,
)
