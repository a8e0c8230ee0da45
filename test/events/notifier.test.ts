import { expect, test, vi } from 'vitest'
import { createEventNotifier } from '../../src/events/notifier.ts'

/** A database that announces when the test says so, and tells who listens. */
function announcer() {
  const handlers = new Set<() => void>()
  let isAway = false
  return {
    handlers,
    fail: (away: boolean) => {
      isAway = away
    },
    announce: () => {
      for (const handler of handlers) handler()
    },
    listen: async (handler: () => void) => {
      if (isAway) throw new Error('the database is away')
      handlers.add(handler)
      return async () => void handlers.delete(handler)
    },
  }
}

test('a notifier listens while it has readers, and some seconds longer', async () => {
  vi.useFakeTimers()
  const database = announcer()
  const notifier = createEventNotifier(database.listen)
  expect(database.handlers.size).toBe(0)
  const reader = notifier.add()
  const unsubscribe = notifier.subscribe(() => {})
  await vi.advanceTimersByTimeAsync(0)
  expect(database.handlers.size).toBe(1)
  reader.remove()
  unsubscribe()
  await vi.advanceTimersByTimeAsync(9_000)
  const next = notifier.add()
  await vi.advanceTimersByTimeAsync(9_000)
  expect(database.handlers.size).toBe(1)
  next.remove()
  await vi.advanceTimersByTimeAsync(11_000)
  expect(database.handlers.size).toBe(0)
  vi.useRealTimers()
})

test('every reader is woken by an event, and once by what may have been before the notifier listened', async () => {
  const database = announcer()
  const notifier = createEventNotifier(database.listen)
  const reader = notifier.add()
  const early = reader.arm()
  await vi.waitFor(() => expect(early.aborted).toBe(true))
  const [first, second] = [reader.arm(), notifier.add().arm()]
  expect([first.aborted, second.aborted]).toEqual([false, false])
  database.announce()
  expect([first.aborted, second.aborted]).toEqual([true, true])
})

test('a notifier that could not listen tries again', async () => {
  vi.useFakeTimers()
  const database = announcer()
  database.fail(true)
  const notifier = createEventNotifier(database.listen)
  const signal = notifier.add().arm()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(signal.aborted).toBe(false)
  database.fail(false)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(signal.aborted).toBe(true)
  vi.useRealTimers()
})

/** A database whose answers to `listen` the test gives, in any order. */
function slowAnnouncer() {
  const handlers = new Set<() => void>()
  const answers: { readonly come: () => void; readonly fail: () => void }[] = []
  return {
    answers,
    announce: () => {
      for (const handler of handlers) handler()
    },
    listen: (handler: () => void) => {
      handlers.add(handler)
      const answer = Promise.withResolvers<() => Promise<void>>()
      answers.push({
        come: () => answer.resolve(async () => void handlers.delete(handler)),
        fail: () => {
          handlers.delete(handler)
          answer.reject(new Error('the database is away'))
        },
      })
      return answer.promise
    },
  }
}

test.each(['come', 'fail'] as const)(
  'a reader is woken though an earlier attempt to listen %ss only after all of its readers had gone',
  async (end) => {
    vi.useFakeTimers()
    const database = slowAnnouncer()
    const notifier = createEventNotifier(database.listen)
    notifier.add().remove()
    await vi.advanceTimersByTimeAsync(11_000)
    const reader = notifier.add()
    database.answers[1]?.come()
    await vi.advanceTimersByTimeAsync(0)
    database.answers[0]?.[end]()
    await vi.advanceTimersByTimeAsync(5_000)
    const wake = reader.arm()
    database.announce()
    expect(wake.aborted).toBe(true)
    // It does not listen once more.
    expect(database.answers).toHaveLength(2)
    vi.useRealTimers()
  },
)
