import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { bodyTooSlow, handlerTooSlow, startDeadline } from '../../src/http/deadline.ts'
import type { HttpContext } from '../../src/http/state.ts'

function request() {
  const res = new EventEmitter()
  return { context: { res } as unknown as HttpContext, close: () => void res.emit('close') }
}

test('the signal aborts when the connection closes', () => {
  const { context, close } = request()
  const { signal } = startDeadline(context, 60_000)
  expect(signal.aborted).toBe(false)
  close()
  expect(signal.aborted).toBe(true)
})

test('a signal that is first read after the end is aborted', () => {
  const { context, close } = request()
  const deadline = startDeadline(context, 60_000)
  close()
  expect(deadline.signal.aborted).toBe(true)
  expect(deadline.signal).toBe(deadline.signal)
})

test('a late request fails, and the work is told to stop', async () => {
  const { context, close } = request()
  const deadline = startDeadline(context, 1)
  const stopped = new Promise((resolve) => deadline.signal.addEventListener('abort', resolve))
  await expect(deadline.race(new Promise<never>(() => undefined), handlerTooSlow)).rejects.toMatchObject({
    code: 'request_timeout',
  })
  await stopped
  close()
})

test('work that begins after the time fails at once, and its own failure is no unhandled one', async () => {
  const { context, close } = request()
  const deadline = startDeadline(context, 1)
  await expect(deadline.race(new Promise<never>(() => undefined), bodyTooSlow)).rejects.toMatchObject({
    code: 'request_too_slow',
  })
  await expect(deadline.race(Promise.reject(new Error('lost')), handlerTooSlow)).rejects.toMatchObject({
    code: 'request_timeout',
  })
  close()
})

test('the getter of the signal is shared, because one per request would keep the request in memory', () => {
  const { context, close } = request()
  const deadline = startDeadline(context, 60_000)
  expect(Object.hasOwn(deadline, 'signal')).toBe(false)
  close()
})
