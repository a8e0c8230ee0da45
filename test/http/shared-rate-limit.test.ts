import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRateLimiter, type RateLimitOptions, type Spending } from '../../src/http/rate-limit.ts'

/** Time in ms between two exchanges of a process. */
const EXCHANGE_MS = 250
const EXCHANGE_SECONDS = EXCHANGE_MS / 1000

type Rate = Pick<RateLimitOptions, 'perSecond' | 'burst'>

/** A clock that stands still until a test advances it. */
function stoppedClock() {
  let now = 1_000_000
  const advance = (ms: number) => {
    now += ms
  }
  return { now: () => now, monotonic: () => now, sleep: async () => {}, advance }
}

/** The bucket in the database, as `takeShared` keeps it; `test/access/rate-limits-store.test.ts` compares the two. */
function sharedBucket({ perSecond, burst }: Rate, now: () => number) {
  let [tokens, filledAt] = [burst, Number.NEGATIVE_INFINITY]
  return ({ tokens: spent, seconds }: Spending) => {
    const before = tokens + perSecond * ((now() - filledAt) / 1000 - seconds)
    const taken = spent.get('key') ?? 0
    tokens = Math.min(burst, Math.min(burst, before) + perSecond * seconds - taken)
    filledAt = now()
    return tokens
  }
}

/** Processes that allow requests with one key, and exchange at times of their own. */
function simulate({ rate, phases }: { readonly rate: Rate; readonly phases: readonly number[] }) {
  const clock = stoppedClock()
  const startedAt = clock.now()
  const takeShared = sharedBucket(rate, clock.now)
  const processes = phases.map((phase) => ({
    dueAt: startedAt + phase,
    limiter: createRateLimiter({ ...rate, clock, isShared: () => true }),
  }))
  const admissions: { readonly at: number; readonly count: number }[] = []
  const exchange = ({ limiter }: (typeof processes)[number]) => {
    const spending = limiter.collect()
    if (spending.tokens.size > 0) limiter.lower('key', { tokens: takeShared(spending), at: spending.at })
  }
  return {
    admissions,
    advance(ms: number) {
      const until = clock.now() + ms
      for (;;) {
        const next = processes.reduce((one, other) => (other.dueAt < one.dueAt ? other : one))
        if (next.dueAt > until) break
        clock.advance(next.dueAt - clock.now())
        exchange(next)
        next.dueAt += EXCHANGE_MS
      }
      clock.advance(until - clock.now())
    },
    request(index: number, tries: number) {
      const { limiter } = processes[index % processes.length] ?? expect.unreachable()
      let count = 0
      while (count < tries && limiter.take('key').waitSeconds === 0) count += 1
      admissions.push({ at: clock.now(), count })
    },
  }
}

/** The most that may be allowed in a window: the rate and the burst of one process, and once for each other one what comes within an exchange. */
function bound({ perSecond, burst }: Rate, { seconds, count }: { seconds: number; count: number }): number {
  const withinExchange = burst + perSecond * EXCHANGE_SECONDS
  return perSecond * seconds + burst + perSecond * EXCHANGE_SECONDS + (count - 1) * withinExchange
}

const rates = fc.record({
  perSecond: fc.integer({ min: 1, max: 200 }),
  burst: fc.integer({ min: 1, max: 300 }),
})
const steps = fc.array(
  fc.record({
    wait: fc.oneof(fc.nat({ max: 400 }), fc.nat({ max: 5_000 })),
    process: fc.nat({ max: 2 }),
    tries: fc.oneof(fc.nat({ max: 10 }), fc.constant(1_000)),
  }),
  { maxLength: 80 },
)

describe('processes that share a key', () => {
  test('allow in no window more than the rate, the burst, and what comes within one exchange', () => {
    const phases = fc.array(fc.nat({ max: EXCHANGE_MS }), { minLength: 2, maxLength: 3 })
    fc.assert(
      fc.property(rates, phases, steps, (rate, phases, steps) => {
        const run = simulate({ rate, phases })
        for (const { wait, process, tries } of steps) {
          run.advance(wait)
          run.request(process, tries)
        }
        for (const [index, first] of run.admissions.entries()) {
          let total = 0
          for (const { at, count } of run.admissions.slice(index)) {
            total += count
            const seconds = (at - first.at) / 1000
            expect(total).toBeLessThanOrEqual(bound(rate, { seconds, count: phases.length }) + 1e-6)
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  test.each([2, 3, 10])('%s of them under load allow the rate of one in the long run', (count) => {
    const rate = { perSecond: 100, burst: 300 }
    const run = simulate({ rate, phases: Array.from({ length: count }, (_, index) => index * 20) })
    const seconds = 600
    for (let tick = 0; tick < seconds * 20; tick += 1) {
      run.advance(50)
      for (let process = 0; process < count; process += 1) run.request(process, 100)
    }
    const total = run.admissions.reduce((sum, { count }) => sum + count, 0)
    expect(total).toBeLessThanOrEqual(bound(rate, { seconds, count }))
    expect(total).toBeGreaterThanOrEqual(rate.perSecond * seconds)
  })

  test('a process alone allows exactly what it would without the others', () => {
    // Multiples of an eighth of a second and of eight per second make all sums exact.
    const exact = fc.record({
      perSecond: fc.integer({ min: 1, max: 20 }).map((each) => each * 8),
      burst: fc.integer({ min: 1, max: 100 }),
    })
    fc.assert(
      fc.property(exact, steps, (rate, steps) => {
        const clock = stoppedClock()
        const alone = createRateLimiter({ ...rate, clock })
        const run = simulate({ rate, phases: [125] })
        for (const { wait, tries } of steps) {
          clock.advance(wait * 125)
          run.advance(wait * 125)
          let expected = 0
          while (expected < tries && alone.take('key').waitSeconds === 0) expected += 1
          run.request(0, tries)
          expect(run.admissions.at(-1)?.count).toBe(expected)
        }
      }),
    )
  })

  test('a debt is told as no request left, and the time until there is one', () => {
    const limiter = createRateLimiter({ perSecond: 2, burst: 3, clock: stoppedClock(), isShared: () => true })
    limiter.take('key')
    limiter.lower('key', { tokens: -3, at: limiter.collect().at })
    expect(limiter.take('key')).toEqual({ waitSeconds: 2, remaining: 0, fullInSeconds: 3 })
  })

  test('a request during an exchange is not forgotten', () => {
    const limiter = createRateLimiter({ perSecond: 1, burst: 5, clock: stoppedClock(), isShared: () => true })
    limiter.take('key')
    const { at } = limiter.collect()
    limiter.take('key')
    limiter.lower('key', { tokens: 3, at })
    expect(limiter.take('key').remaining).toBe(1)
    expect(limiter.collect().tokens).toEqual(new Map([['key', 2]]))
  })

  test('nothing that it is told raises a bucket', () => {
    const limiter = createRateLimiter({ perSecond: 1, burst: 2, clock: stoppedClock(), isShared: () => true })
    limiter.take('key')
    limiter.lower('key', { tokens: 1_000, at: limiter.collect().at })
    expect(limiter.take('key').remaining).toBe(0)
  })

  test('only the keys that are shared are told', () => {
    const isShared = (key: string) => key === 'shared'
    const limiter = createRateLimiter({ perSecond: 1, burst: 2, clock: stoppedClock(), isShared })
    for (const key of ['shared', 'own', 'shared', 'shared']) limiter.take(key)
    expect(limiter.collect().tokens).toEqual(new Map([['shared', 2]]))
    expect(limiter.collect().tokens).toEqual(new Map())
  })
})
