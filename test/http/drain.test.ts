import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { createAdjustableClock } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { BEARER, call, startStub } from './stub-server.ts'

const EMPTY = { data: [], pagination: { current_page: 1, per_page: 10, total_items: 0 } }

/** A handler that resolves `begun` when it starts, and answers when the test calls `finish`. */
function heldHandler() {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  const listRelayers = async () => {
    begin()
    await finished
    return EMPTY
  }
  return { begun, finish, listRelayers }
}

test('draining lets the open request finish, and takes no other', async () => {
  const { begun, finish, listRelayers } = heldHandler()
  const { port, server } = await startStub({ handlers: { listRelayers } })
  const answer = call(port, 'GET', '/api/v1/relayers')
  await begun
  const drained = server.drain({ deadlineMs: 10_000 })
  await until(
    async () => String(await call(port, 'GET', '/api/v1/health').catch((error: Error) => error)),
    (outcome) => outcome.includes('ECONNREFUSED'),
  )
  finish()
  const reply = await answer
  expect(reply.status).toBe(200)
  expect(reply.headers.connection).toBe('close')
  await drained
})

test('draining does not wait for idle kept-alive connections', async () => {
  const { port, server } = await startStub()
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n')
  await new Promise((resolve) => socket.once('data', resolve))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await server.drain({ deadlineMs: 10_000 })
  await closed
})

test('draining closes the remaining connections after the deadline', async () => {
  const { begun, listRelayers } = heldHandler()
  const { port, server } = await startStub({ handlers: { listRelayers } })
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET /api/v1/relayers HTTP/1.1\r\nHost: x\r\nAuthorization: ${BEARER}\r\n\r\n`)
  await begun
  await server.drain({ deadlineMs: 50 })
})

test('a second drain changes nothing', async () => {
  const { server } = await startStub()
  await Promise.all([server.drain({ deadlineMs: 1000 }), server.drain({ deadlineMs: 1000 })])
})

test('draining takes requests until the grace is over, and each answer closes its connection', async () => {
  const clock = createAdjustableClock()
  const { port, server } = await startStub({ clock })
  const drained = server.drain({ deadlineMs: 100_000, graceMs: 10_000 })
  const reply = await call(port, 'GET', '/api/v1/relayers')
  expect([reply.status, reply.headers.connection]).toEqual([200, 'close'])
  clock.advance(10_000)
  await drained
  await expect(call(port, 'GET', '/api/v1/health')).rejects.toThrow(/ECONNREFUSED/)
})

test('draining closes a connection that never said anything, and one that is kept after its answer', async () => {
  const { begun, finish, listRelayers } = heldHandler()
  const { port, server } = await startStub({ handlers: { listRelayers } })
  const silent = connect(port, '127.0.0.1')
  await new Promise((resolve) => silent.once('connect', resolve))
  const answer = call(port, 'GET', '/api/v1/relayers')
  await begun
  const closed = new Promise((resolve) => silent.resume().once('close', resolve))
  const drained = server.drain({ deadlineMs: 100_000 })
  await closed
  finish()
  expect((await answer).status).toBe(200)
  await drained
})
