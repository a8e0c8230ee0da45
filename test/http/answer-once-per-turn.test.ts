import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { answerOncePerTurn } from '../../src/http/answer-once-per-turn.ts'
import type { HttpContext } from '../../src/http/state.ts'

/** Answers requests, and records which answers left. Its clock stands still until it is moved. */
function server() {
  let now = 0
  const left: string[] = []
  const middleware = answerOncePerTurn({ clock: { monotonic: () => now } })
  const answer = (name: string) =>
    void middleware({} as HttpContext, async () => {}).then(() => void left.push(name))
  return {
    left,
    answer,
    pass: (ms: number) => {
      now += ms
    },
  }
}

/** Runs what is ready, without an end of the turn. */
async function microtasks(): Promise<void> {
  for (let count = 0; count < 20; count += 1) await Promise.resolve()
}

/** Waits for the end of the turn in which the answers are ready. */
async function nextTurn(): Promise<void> {
  await microtasks()
  await immediate()
  await microtasks()
}

/** Makes the next turn one after a turn with several answers. */
async function busy({ answer, left }: ReturnType<typeof server>): Promise<void> {
  answer('before')
  answer('before')
  await nextTurn()
  left.length = 0
}

test('an answer that is alone in its turn leaves immediately', async () => {
  const { left, answer } = server()
  for (const name of ['1', '2']) {
    answer(name)
    await microtasks()
    expect(left).toContain(name)
    await nextTurn()
  }
})

test('the answers of a busy turn leave together, in order, at its end', async () => {
  const stage = server()
  await busy(stage)
  for (const name of ['1', '2', '3']) {
    stage.answer(name)
    await microtasks()
  }
  expect(stage.left).toEqual([])
  await nextTurn()
  expect(stage.left).toEqual(['1', '2', '3'])
})

test('after a turn with one answer nothing waits any more', async () => {
  const stage = server()
  await busy(stage)
  stage.answer('waits')
  await nextTurn()
  stage.answer('alone')
  await microtasks()
  expect(stage.left).toEqual(['waits', 'alone'])
})

test('an answer waits for no further one when the turn takes long', async () => {
  const stage = server()
  await busy(stage)
  stage.answer('1')
  await microtasks()
  stage.pass(1)
  stage.answer('2')
  await microtasks()
  expect(stage.left).toEqual(['1', '2'])
  stage.answer('3')
  await microtasks()
  expect(stage.left).toEqual(['1', '2'])
  await nextTurn()
  expect(stage.left).toEqual(['1', '2', '3'])
})

test('a failure of the answer does not wait', async () => {
  const middleware = answerOncePerTurn({ clock: { monotonic: () => 0 } })
  const failure = new Error('broken')
  await expect(middleware({} as HttpContext, () => Promise.reject(failure))).rejects.toBe(failure)
})
