import { expect, test } from 'vitest'
import { limitConcurrency } from '../../src/lib/concurrency/limit-concurrency.ts'

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
