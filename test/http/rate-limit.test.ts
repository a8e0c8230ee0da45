import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRateLimiter } from '../../src/http/rate-limit.ts'
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
