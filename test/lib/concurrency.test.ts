import { describe, expect, test } from 'vitest'
import { createBatcher } from '../../src/lib/concurrency/batcher.ts'
import { limitConcurrency } from '../../src/lib/concurrency/limit-concurrency.ts'
import { AnswerTooLargeError, createByteBudget } from '../../src/lib/http/byte-budget.ts'

/** A batcher whose runs end when the test ends them. */
function pausedBatcher({ maxItems = 100, collectsTurn = false, overlaps = false } = {}) {
  const runs: {
    items: readonly string[]
    end: (results?: readonly string[]) => void
    fail: (error: Error) => void
  }[] = []
  const add = createBatcher<string, string>({
    keyOf: (item) => item.charAt(0),
    maxItems,
    collectsTurn,
    overlaps,
    run: (items) =>
      new Promise((resolve, reject) => {
        runs.push({
          items,
          end: (results = items.map((item) => `${item}!`)) => resolve(results),
          fail: reject,
        })
      }),
  })
  return { add, runs }
}

/** Lets everything that is ready to run, run. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('a batcher', () => {
  test('runs a lone item immediately', async () => {
    const { add, runs } = pausedBatcher()
    const result = add('a1')
    expect(runs.map((run) => run.items)).toEqual([['a1']])
    runs[0]?.end()
    expect(await result).toBe('a1!')
  })

  test('collects what arrives during a run into the next one, and gives each its own result', async () => {
    const { add, runs } = pausedBatcher()
    const results = Promise.all(['a1', 'a2', 'a3'].map(add))
    runs[0]?.end()
    await settle()
    expect(runs.map((run) => run.items)).toEqual([['a1'], ['a2', 'a3']])
    runs[1]?.end()
    expect(await results).toEqual(['a1!', 'a2!', 'a3!'])
  })

  test('collects the rest of the turn first where it is told to', async () => {
    const { add, runs } = pausedBatcher({ collectsTurn: true })
    const results = Promise.all(['a1', 'a2'].map(add))
    expect(runs).toEqual([])
    await settle()
    expect(runs.map((run) => run.items)).toEqual([['a1', 'a2']])
    runs[0]?.end()
    expect(await results).toEqual(['a1!', 'a2!'])
  })

  test('never runs two batches of one key at the same time, and keys do not wait for each other', async () => {
    const { add, runs } = pausedBatcher()
    void add('a1')
    void add('a2')
    const b = add('b1')
    await settle()
    expect(runs.map((run) => run.items)).toEqual([['a1'], ['b1']])
    runs[1]?.end()
    expect(await b).toBe('b1!')
  })

  test('opens a new batch during a run where runs may overlap', async () => {
    const { add, runs } = pausedBatcher({ collectsTurn: true, overlaps: true })
    const first = add('a1')
    await settle()
    const second = Promise.all(['a2', 'a3'].map(add))
    await settle()
    expect(runs.map((run) => run.items)).toEqual([['a1'], ['a2', 'a3']])
    runs[1]?.end()
    expect(await second).toEqual(['a2!', 'a3!'])
    runs[0]?.end()
    expect(await first).toBe('a1!')
  })

  test('a run that overlaps another one fails its own items only', async () => {
    const { add, runs } = pausedBatcher({ collectsTurn: true, overlaps: true })
    const first = add('a1')
    await settle()
    const second = add('a2')
    await settle()
    runs[0]?.fail(new Error('no node'))
    await expect(first).rejects.toThrow('no node')
    runs[1]?.end()
    expect(await second).toBe('a2!')
  })

  test('takes at most so many at the same time, in order', async () => {
    const { add, runs } = pausedBatcher({ maxItems: 2 })
    const results = Promise.all(['a1', 'a2', 'a3', 'a4', 'a5'].map(add))
    for (let done = 0; done < 4; done += 1) {
      runs[done]?.end()
      await settle()
    }
    expect(runs.map((run) => run.items)).toEqual([['a1'], ['a2', 'a3'], ['a4', 'a5']])
    expect(await results).toHaveLength(5)
  })

  test('a failed run fails its own items only', async () => {
    const { add, runs } = pausedBatcher()
    const first = add('a1')
    const second = add('a2')
    runs[0]?.fail(new Error('no disk'))
    await expect(first).rejects.toThrow('no disk')
    await settle()
    runs[1]?.end()
    expect(await second).toBe('a2!')
  })

  test('a run that throws before it promises anything fails its items too', async () => {
    const add = createBatcher<string, string>({
      keyOf: () => 'k',
      maxItems: 1,
      run: () => {
        throw new Error('at once')
      },
    })
    await expect(add('a')).rejects.toThrow('at once')
    await expect(add('b')).rejects.toThrow('at once')
  })

  test('a result that is missing is a fault, not a wait without end', async () => {
    const { add, runs } = pausedBatcher()
    const first = add('a1')
    runs[0]?.end([])
    await expect(first).rejects.toThrow('fewer results')
  })

  test('starts from the beginning after it was empty', async () => {
    const { add, runs } = pausedBatcher()
    const first = add('a1')
    runs[0]?.end()
    await first
    await settle()
    void add('a2')
    expect(runs.map((run) => run.items)).toEqual([['a1'], ['a2']])
  })
})

test('large answers share the budget, small ones are free, and a closed share gives everything back', () => {
  const budget = createByteBudget({ bytes: 100, freeBytes: 10 })
  const [first, second, small] = [budget.open(), budget.open(), budget.open()]
  first.take(6)
  first.take(74)
  second.take(40)
  expect(budget.used).toBe(100)
  expect(() => second.take(1)).toThrow(AnswerTooLargeError)
  expect(() => small.take(10)).not.toThrow()
  second.close()
  second.close()
  expect(budget.used).toBe(70)
  first.close()
  small.close()
  expect(budget.used).toBe(0)
})

test('no more tasks than the limit run, in the order of their arrival, and a failure frees its place', async () => {
  const limited = limitConcurrency(2)
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<number>())
  const started: number[] = []
  const tasks = gates.map((gate, index) =>
    limited(() => {
      started.push(index)
      return gate.promise
    }),
  )
  const outcomes = Promise.allSettled(tasks)
  await Promise.resolve()
  expect(started).toEqual([0, 1])
  gates[1]?.reject(new Error('over'))
  await expect(tasks[1]).rejects.toThrow('over')
  expect(started).toEqual([0, 1, 2])
  for (const [index, gate] of gates.entries()) gate.resolve(index)
  expect((await outcomes).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ])
})
