import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRateLimiter, type RateLimitOptions, type Spending } from '../../src/http/rate-limit.ts'
import { ask, BEARER, call, startStub } from './stub-server.ts'

/** A clock that stands still until a test advances it. */
function stoppedClock() {
  let now = 1_000_000
  return {
    now: () => now,
    monotonic: () => now,
    sleep: async () => {},
    advance: (ms: number) => {
      now += ms
    },
  }
}

const RATE = { perSecond: 2, burst: 3 }

describe('rate limit over HTTP', () => {
  test('a caller has its burst, then 429 with Retry-After, then as much as time has refilled', async () => {
    const clock = stoppedClock()
    const { port } = await startStub({ clock, rateLimit: RATE })
    for (let count = 0; count < 3; count += 1)
      expect((await call(port, 'GET', '/api/v1/relayers')).status).toBe(200)
    const refused = await call(port, 'GET', '/api/v1/relayers')
    expect(refused.status).toBe(429)
    expect(refused.headers['retry-after']).toBe('1')
    expect(refused.json).toMatchObject({
      success: false,
      data: null,
      message: 'Too Many Requests',
      code: 'rate_limited',
    })
    clock.advance(500)
    expect((await call(port, 'GET', '/api/v1/relayers')).status).toBe(200)
    expect((await call(port, 'GET', '/api/v1/relayers')).status).toBe(429)
  })

  test('an exhausted limit does not stop paths that the contract does not limit', async () => {
    const { port } = await startStub({ clock: stoppedClock(), rateLimit: { perSecond: 1, burst: 1 } })
    await call(port, 'GET', '/api/v1/relayers')
    expect((await call(port, 'GET', '/api/v1/relayers')).status).toBe(429)
    for (const path of ['/api/v1/notifications', '/api/v1/health', '/api/v1/ready']) {
      expect((await call(port, 'GET', path)).status).toBe(200)
    }
  })

  test('each answer tells the rest of the quota, and a 429 the same time as Retry-After', async () => {
    const clock = stoppedClock()
    const { port } = await startStub({ clock, rateLimit: { perSecond: 2, burst: 3 } })
    const told = async (path = '/api/v1/relayers') => {
      const { status, headers } = await call(port, 'GET', path)
      return [status, headers.ratelimit, headers['ratelimit-policy'], headers['retry-after']]
    }
    const policy = '"requests";q=3;w=2'
    expect(await told()).toEqual([200, '"requests";r=2;t=1', policy, undefined])
    expect(await told('/api/v1/nothing')).toEqual([404, '"requests";r=1;t=1', policy, undefined])
    expect(await told('/openapi.json?profile=x')).toEqual([400, '"requests";r=0;t=2', policy, undefined])
    expect(await told()).toEqual([429, '"requests";r=0;t=1', policy, '1'])
    clock.advance(500)
    expect(await told()).toEqual([200, '"requests";r=0;t=2', policy, undefined])
    for (const path of ['/api/v1/notifications', '/api/v1/health'])
      expect(await told(path)).toEqual([200, undefined, undefined, undefined])
  })

  test('every counted answer has both headers, whatever its status', async () => {
    const listRelayers = () => Promise.reject(new Error('a fault'))
    const { port } = await startStub({
      clock: stoppedClock(),
      rateLimit: { perSecond: 1, burst: 5 },
      handlers: { listRelayers },
    })
    const cases = [
      [200, { path: '/api/v1/relayers/r-1' }],
      [400, { path: '/api/v1/relayers/r-1?page=x' }],
      [404, { path: '/api/v1/nothing' }],
      [405, { method: 'PATCH', path: '/api/v1/relayers' }],
      [500, { path: '/api/v1/relayers' }],
      [429, { path: '/api/v1/relayers' }],
      [401, { path: '/api/v1/relayers', headers: { authorization: 'Bearer x' } }],
    ] as const
    for (const [status, request] of cases) {
      const headers = { authorization: BEARER, ...('headers' in request && request.headers) }
      const reply = await ask(port, { ...request, headers })
      expect(reply.status).toBe(status)
      expect(reply.headers.ratelimit).toMatch(/^"requests";r=\d+;t=\d+$/)
      expect(reply.headers['ratelimit-policy']).toBe('"requests";q=5;w=5')
      expect(reply.headers['retry-after']).toBe(status === 429 ? '1' : undefined)
    }
  })

  test('unauthenticated callers share the bucket of their address and take nothing from authenticated ones', async () => {
    const { port } = await startStub({ clock: stoppedClock(), rateLimit: { perSecond: 1, burst: 2 } })
    const unauthenticated = (token: string) =>
      ask(port, { path: '/api/v1/relayers', headers: { authorization: `Bearer ${token}` } })
    expect((await unauthenticated('one')).status).toBe(401)
    expect((await unauthenticated('two')).status).toBe(401)
    expect((await unauthenticated('three')).status).toBe(429)
    expect((await ask(port, { path: '/api/v1/relayers', headers: { authorization: BEARER } })).status).toBe(
      200,
    )
  })

  test('an unauthenticated caller of the notifications always receives 401, because that operation has no 429', async () => {
    const { port } = await startStub({ clock: stoppedClock(), rateLimit: { perSecond: 1, burst: 1 } })
    for (let count = 0; count < 4; count += 1)
      expect((await ask(port, { path: '/api/v1/notifications' })).status).toBe(401)
  })
})

describe('token bucket', () => {
  test('a long pause refills the bucket up to the burst, not above it', () => {
    const clock = stoppedClock()
    const limiter = createRateLimiter({ ...RATE, clock })
    const takeAll = () => Array.from({ length: 5 }, () => limiter.take('key').waitSeconds === 0)
    expect(takeAll()).toEqual([true, true, true, false, false])
    clock.advance(3_600_000)
    expect(takeAll()).toEqual([true, true, true, false, false])
  })

  test('never gives more than the burst and the refill of the elapsed time', () => {
    const step = fc.record({ wait: fc.nat({ max: 3000 }), tries: fc.nat({ max: 10 }) })
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 20 }),
        (steps, perSecond, burst) => {
          const clock = stoppedClock()
          const limiter = createRateLimiter({ perSecond, burst, clock })
          let [given, waited] = [0, 0]
          for (const { wait, tries } of steps) {
            clock.advance(wait)
            waited += wait
            for (let count = 0; count < tries; count += 1)
              if (limiter.take('key').waitSeconds === 0) given += 1
            expect(given).toBeLessThanOrEqual(burst + (waited / 1000) * perSecond + 1e-6)
          }
        },
      ),
    )
  })

  test('a token exists after the announced seconds', () => {
    const clock = stoppedClock()
    const limiter = createRateLimiter({ perSecond: 0.3, burst: 1, clock })
    expect(limiter.take('key').waitSeconds).toBe(0)
    const seconds = limiter.take('key').waitSeconds
    expect(seconds).toBe(4)
    clock.advance(seconds * 1000)
    expect(limiter.take('key').waitSeconds).toBe(0)
  })

  test('forgets the key that was idle for the longest time, so that memory is bounded', () => {
    const limiter = createRateLimiter({ perSecond: 1, burst: 1, clock: stoppedClock(), maxKeys: 2 })
    expect(limiter.take('a').waitSeconds).toBe(0)
    expect(limiter.take('b').waitSeconds).toBe(0)
    expect(limiter.take('a').waitSeconds).toBe(1)
    expect(limiter.take('c').waitSeconds).toBe(0)
    expect(limiter.take('a').waitSeconds).toBe(1)
    expect(limiter.take('b').waitSeconds).toBe(0)
  })

  test('a clock that goes backwards takes no token away', () => {
    const clock = stoppedClock()
    const limiter = createRateLimiter({ perSecond: 1, burst: 2, clock })
    limiter.take('key')
    clock.advance(-10_000)
    expect(limiter.take('key').waitSeconds).toBe(0)
  })

  describe('for what a request holds besides its first unit', () => {
    const bucket = (perSecond: number, burst: number) => {
      const clock = stoppedClock()
      const limiter = createRateLimiter({ perSecond, burst, clock })
      /** Gives the seconds to wait; 0 for a request that is served. */
      const send = (units: number) =>
        limiter.take('key').waitSeconds || limiter.takeFurther('key', units - 1).waitSeconds
      return { clock, limiter, send }
    }

    test('takes all of it or nothing', () => {
      const { clock, limiter, send } = bucket(2, 10)
      expect(send(7)).toBe(0)
      expect(limiter.take('key').remaining).toBe(2)
      // The two that are left are too few; it takes one of them all the same, because it was a request.
      expect(send(6)).toBe(3)
      clock.advance(3000)
      expect(send(6)).toBe(0)
    })

    test('takes more than a full bucket from a full one, and the rest is refilled before the next request', () => {
      const { clock, send } = bucket(2, 10)
      expect(send(100)).toBe(0)
      expect(send(1)).toBe(46)
      clock.advance(45_000)
      expect(send(1)).toBe(1)
      clock.advance(1000)
      expect(send(1)).toBe(0)
      // One token is left, and such a request needs a full bucket.
      expect(send(100)).toBe(5)
      clock.advance(5000)
      expect(send(100)).toBe(0)
    })

    test('gives a batch to a bucket of one', () => {
      const { clock, send } = bucket(1, 1)
      expect(send(5)).toBe(0)
      expect(send(1)).toBe(5)
      clock.advance(5000)
      expect(send(1)).toBe(0)
    })

    test('tells other processes all of it', () => {
      const limiter = createRateLimiter({ ...RATE, clock: stoppedClock(), isShared: () => true })
      limiter.take('key')
      limiter.takeFurther('key', 9)
      limiter.takeFurther('key', 9)
      expect([...limiter.collect().tokens]).toEqual([['key', 10]])
    })

    test('never gives more than the burst, the refill, and one large request', () => {
      const step = fc.record({ wait: fc.nat({ max: 3000 }), units: fc.integer({ min: 1, max: 60 }) })
      fc.assert(
        fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 20 }), (steps, burst) => {
          const { clock, send } = bucket(5, burst)
          let [given, waited, largest] = [0, 0, 0]
          for (const { wait, units } of steps) {
            clock.advance(wait)
            waited += wait
            largest = Math.max(largest, units)
            if (send(units) === 0) given += units
            expect(given).toBeLessThanOrEqual(burst + (waited / 1000) * 5 + largest + 1e-6)
          }
        }),
      )
    })
  })
})

describe('a rate limit of several processes', () => {
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
      const limiter = createRateLimiter({
        perSecond: 2,
        burst: 3,
        clock: stoppedClock(),
        isShared: () => true,
      })
      limiter.take('key')
      limiter.lower('key', { tokens: -3, at: limiter.collect().at })
      expect(limiter.take('key')).toEqual({ waitSeconds: 2, remaining: 0, fullInSeconds: 3 })
    })

    test('a request during an exchange is not forgotten', () => {
      const limiter = createRateLimiter({
        perSecond: 1,
        burst: 5,
        clock: stoppedClock(),
        isShared: () => true,
      })
      limiter.take('key')
      const { at } = limiter.collect()
      limiter.take('key')
      limiter.lower('key', { tokens: 3, at })
      expect(limiter.take('key').remaining).toBe(1)
      expect(limiter.collect().tokens).toEqual(new Map([['key', 2]]))
    })

    test('nothing that it is told raises a bucket', () => {
      const limiter = createRateLimiter({
        perSecond: 1,
        burst: 2,
        clock: stoppedClock(),
        isShared: () => true,
      })
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
})
