import type { Server } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../lib/time.ts'
import type { FinishingStep } from '../answers/send.ts'
import type { Limits } from '../server-options.ts'
import type { Connections } from './connections.ts'

/** The time limits of a shutdown, in ms. */
export interface DrainTimes {
  /** After this time the server closes the remaining connections. */
  readonly deadlineMs: number
  /**
   * For this time, at most half of the deadline, the server still takes requests: load balancers learn late
   * that it stops. Default 0.
   */
  readonly graceMs?: number
}

interface Draining extends DrainTimes {
  readonly server: Server
  readonly connections: Connections
  readonly clock: Clock
}

/**
 * Takes requests until the grace is over, then stops new connections, answers every request that has arrived,
 * and closes what is left after the deadline.
 */
export async function drain({
  server,
  connections,
  clock,
  deadlineMs,
  graceMs = 0,
}: Draining): Promise<void> {
  if (!server.listening) return
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(() => server.closeAllConnections(), deadlineMs)
  if (graceMs > 0) await clock.sleep(Math.min(graceMs, deadlineMs / 2))
  await takeWaiting(connections, deadlineMs)
  server.close(() => resolve())
  connections.closeIdle()
  await closed
  clearTimeout(timer)
}

/**
 * Accepts the connections that wait in the backlog, and reads what they have sent: closing the listener would
 * reset them. The event loop accepts one connection per turn, and reads from all of them.
 */
async function takeWaiting(connections: Connections, deadlineMs: number): Promise<void> {
  const end = performance.now() + deadlineMs / 2
  for (let before = -1; before !== connections.admitted && performance.now() < end; ) {
    before = connections.admitted
    await turns()
  }
  await turns()
}

/** The first turn can begin in the middle of a round of the event loop; the second one is a whole round. */
async function turns(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/** Returns whether the server is shutting down. */
export interface DrainState {
  readonly draining: boolean
}

/**
 * Tells callers of a server that is shutting down to reconnect elsewhere: a kept-alive connection would
 * outlive the server.
 */
export function closeWhileDraining(state: DrainState): FinishingStep {
  return function closeWhileDraining(context) {
    if (state.draining) context.set('Connection', 'close')
  }
}

interface KeepAliveOptions {
  readonly connections: Connections
  readonly limits: Pick<Limits, 'unauthenticatedKeepAliveMs'>
}

/**
 * Announces the shorter life of an idle connection that has shown no key. The header of Node names the time
 * of the others.
 */
export function keepAlive({ connections, limits }: KeepAliveOptions): FinishingStep {
  const seconds = Math.floor(limits.unauthenticatedKeepAliveMs / 1000)
  const headers = { Connection: 'keep-alive', 'Keep-Alive': `timeout=${seconds}` }
  return function keepAlive(context) {
    const { req, res } = context
    if (connections.isAuthenticated(req.socket) || !res.shouldKeepAlive || res.hasHeader('Connection')) return
    context.set(headers)
  }
}
