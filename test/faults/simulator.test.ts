import { describe, expect, test } from 'vitest'
import { runCampaign } from './campaign.ts'

/**
 * A few dozen histories of the whole service; `npm run faults` runs as many as one likes. Each seed is a history of its
 * own, so a red one is replayed by `npm run faults -- --seed N --histories 1` with the other numbers as they stand here.
 */
const CAMPAIGNS = [
  { title: 'one endpoint', seeds: range(1, 18), steps: 25, endpoints: 1, kills: false },
  { title: 'two endpoints', seeds: range(200, 4), steps: 25, endpoints: 2, kills: false },
  // A fee that cannot be raised kept its transaction from being offered again after the pool had lost it.
  {
    title: 'a lost pool and a raise that is refused',
    seeds: [7000, 7001],
    steps: 30,
    endpoints: 2,
    kills: false,
  },
  { title: 'killed now and then', seeds: range(1000, 2), steps: 25, endpoints: 1, kills: true },
] as const

/** Far more than any of these takes on a busy machine. */
const DEADLINE_MS = 240_000

describe('random histories keep every promise', () => {
  test.each(CAMPAIGNS)(
    '$title',
    async ({ seeds, steps, endpoints, kills }) => {
      const broken: string[] = []
      const late = await runCampaign({
        seeds,
        steps,
        endpoints,
        kills,
        onHistory: ({ seed, violations }) => {
          broken.push(...violations.map((violation) => `seed ${seed}: ${violation}`))
          return true
        },
      })
      expect([...broken, ...late]).toEqual([])
    },
    DEADLINE_MS,
  )
})

function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}
