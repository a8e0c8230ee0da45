import { beforeEach, describe, expect, test } from 'vitest'
import type { Answer } from '../../src/chains/answer.ts'
import {
  createBalanceReader,
  createRecentAnswer,
  type RecentAnswer,
} from '../../src/chains/rpc/balance-reader.ts'
import { createTestClock } from '../support/clock.ts'

let clock: ReturnType<typeof createTestClock>
/** The questions so far; each waits until the test answers it. */
let questions: { answer(answer: Answer<number>): void; fail(error: Error): void }[]
let recent: RecentAnswer<number>

beforeEach(() => {
  clock = createTestClock()
  questions = []
  recent = createRecentAnswer({
    clock,
    freshForMs: 1_000,
    ask: () => {
      const { promise, resolve, reject } = Promise.withResolvers<Answer<number>>()
      questions.push({ answer: resolve, fail: reject })
      return promise
    },
  })
})

const ok = (value: number): Answer<number> => ({ kind: 'ok', value })
const SILENCE: Answer<number> = { kind: 'unknown', detail: 'no node answered' }

/** Lets everything happen that waits for nothing. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

async function readFirst(value: number): Promise<void> {
  const reading = recent.read()
  questions.at(-1)?.answer(ok(value))
  expect(await reading).toEqual(ok(value))
}

test('all who wait share one question, and a fresh answer needs none', async () => {
  const crowd = [recent.read(), recent.read()]
  questions[0]?.answer(ok(1))
  expect(await Promise.all(crowd)).toEqual([ok(1), ok(1)])
  clock.advance(749)
  expect(await recent.read()).toEqual(ok(1))
  expect(questions).toHaveLength(1)
})

test('the age of an answer counts from its question', async () => {
  const reading = recent.read()
  clock.advance(1_000)
  questions[0]?.answer(ok(1))
  expect(await reading).toEqual(ok(1))
  void recent.read()
  expect(questions).toHaveLength(2)
})

describe('an answer that is soon too old', () => {
  beforeEach(async () => {
    await readFirst(1)
    clock.advance(750)
    expect(await recent.read()).toEqual(ok(1))
  })

  test('is asked for again once, and given to readers until the new one is there', async () => {
    expect(await recent.read()).toEqual(ok(1))
    expect(questions).toHaveLength(2)
    questions[1]?.answer(ok(2))
    await settled()
    clock.advance(700)
    expect(await recent.read()).toEqual(ok(2))
    expect(questions).toHaveLength(2)
  })

  test('stays for its time when the nodes say nothing or fail, and is asked for again', async () => {
    questions[1]?.answer(SILENCE)
    await settled()
    expect(await recent.read()).toEqual(ok(1))
    questions[2]?.fail(new Error('closed'))
    await settled()
    expect(await recent.read()).toEqual(ok(1))
    expect(questions).toHaveLength(4)
  })

  test('is not given to any caller when it is too old, although the new one is not there', async () => {
    clock.advance(250)
    const reading = recent.read()
    expect(questions).toHaveLength(3)
    questions[2]?.answer(ok(3))
    expect(await reading).toEqual(ok(3))
    questions[1]?.answer(ok(2))
    await settled()
    expect(await recent.read()).toEqual(ok(3))
  })

  test('is not replaced by an answer to a question from before it was forgotten', async () => {
    recent.forget()
    questions[1]?.answer(ok(2))
    await settled()
    await readFirst(3)
    expect(questions).toHaveLength(3)
  })
})

test('a silence is not kept as an answer', async () => {
  const reading = recent.read()
  questions[0]?.answer(SILENCE)
  expect(await reading).toEqual(SILENCE)
  await readFirst(1)
  expect(questions).toHaveLength(2)
})

test('recent balances are kept for each address, and a present one is always asked for', async () => {
  const asked: string[] = []
  const balances = async (addresses: readonly string[]) =>
    addresses.map((address): Answer<bigint> => {
      asked.push(address)
      return { kind: 'ok', value: BigInt(asked.length) }
    })
  const reader = createBalanceReader({ balances, balancesPerCall: () => 1, clock, freshForMs: 1_000 })
  expect(await reader.recentBalance('a')).toEqual({ kind: 'ok', value: 1n })
  expect(await reader.recentBalance('b')).toEqual({ kind: 'ok', value: 2n })
  expect(await reader.recentBalance('a')).toEqual({ kind: 'ok', value: 1n })
  expect(await reader.balance('a')).toEqual({ kind: 'ok', value: 3n })
  clock.advance(1_000)
  expect(await reader.recentBalance('a')).toEqual({ kind: 'ok', value: 4n })
  expect(asked).toEqual(['a', 'b', 'a', 'a'])
})
