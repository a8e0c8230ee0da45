import { describe, expect, test } from 'vitest'
import { createLogger } from '../../src/log.ts'
import { createLoop } from '../../src/workers/loop.ts'
import { createTestClock } from '../support/clock.ts'

const INTERVAL = 1_000
const log = createLogger({ level: 'silent' })

/** Lets everything that is ready to run, run. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A loop whose rounds end when the test says so. */
function createTestLoop() {
  const clock = createTestClock()
  const rounds: { end: () => void; fail: (error: Error) => void }[] = []
  const loop = createLoop({
    name: 'test',
    intervalMs: INTERVAL,
    clock,
    log,
    work: () => new Promise<void>((resolve, reject) => rounds.push({ end: resolve, fail: reject })),
  })
  const end = async () => {
    rounds.at(-1)?.end()
    await settle()
  }
  return { clock, loop, rounds, end }
}

describe('a loop', () => {
  test('works immediately, then when the time is up, one round at a time', async () => {
    const { clock, loop, rounds, end } = createTestLoop()
    loop.start()
    loop.start()
    expect(rounds).toHaveLength(1)
    clock.advance(INTERVAL * 5)
    await settle()
    expect(rounds).toHaveLength(1)
    await end()
    clock.advance(INTERVAL - 1)
    await settle()
    expect(rounds).toHaveLength(1)
    clock.advance(1)
    await settle()
    expect(rounds).toHaveLength(2)
  })

  test('tells that its first round is over, whether it failed or not', async () => {
    for (const fails of [false, true]) {
      const { loop, rounds, end } = createTestLoop()
      let isOver = false
      const started = loop.start().then(() => {
        isOver = true
      })
      await settle()
      expect(isOver).toBe(false)
      if (fails) rounds[0]?.fail(new Error('no database'))
      else await end()
      await started
      expect(rounds).toHaveLength(1)
    }
  })

  test('is woken out of its wait', async () => {
    const { loop, rounds, end } = createTestLoop()
    loop.start()
    await end()
    loop.wake()
    await settle()
    expect(rounds).toHaveLength(2)
  })

  test('works once more when it is woken during a round, however often', async () => {
    const { loop, rounds, end } = createTestLoop()
    loop.start()
    for (let times = 0; times < 10; times += 1) loop.wake()
    await end()
    expect(rounds).toHaveLength(2)
    await end()
    expect(rounds).toHaveLength(2)
  })

  test('a failed round is tried again after the wait, not immediately and not never', async () => {
    const { clock, loop, rounds, end } = createTestLoop()
    loop.start()
    loop.wake()
    rounds[0]?.fail(new Error('no database'))
    await settle()
    expect(rounds).toHaveLength(1)
    expect(loop.health()).toMatchObject({ name: 'test', error: 'no database' })
    clock.advance(INTERVAL)
    await settle()
    expect(rounds).toHaveLength(2)
    await end()
    expect(loop.health()).not.toHaveProperty('error')
  })

  test('stops after the round that is under way, and starts no other', async () => {
    const { clock, loop, rounds } = createTestLoop()
    loop.start()
    loop.wake()
    let stopped = false
    const stopping = loop.stop().then(() => {
      stopped = true
    })
    await settle()
    expect(stopped).toBe(false)
    rounds[0]?.end()
    await stopping
    clock.advance(INTERVAL)
    await settle()
    expect(rounds).toHaveLength(1)
  })

  test('stops out of its wait immediately, leaving no timer', async () => {
    const { clock, loop, end } = createTestLoop()
    loop.start()
    await end()
    expect(clock.waiting).toBe(1)
    await loop.stop()
    expect(clock.waiting).toBe(0)
  })

  test('tells how long it has been since a round ended well', async () => {
    const { clock, loop, end } = createTestLoop()
    loop.start()
    clock.advance(300)
    expect(loop.health().quietMs).toBe(300)
    await end()
    expect(loop.health().quietMs).toBe(0)
  })
})
