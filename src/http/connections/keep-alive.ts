import type { FinishingStep } from '../answers/finish-answer.ts'
import type { Limits } from '../limits.ts'
import type { Connections } from './connections.ts'

interface KeepAliveOptions {
  readonly connections: Connections
  readonly limits: Pick<Limits, 'unauthenticatedKeepAliveMs'>
}

/** Announces the shorter life of an idle connection that has shown no key. The header of Node names the time of the others. */
export function keepAlive({ connections, limits }: KeepAliveOptions): FinishingStep {
  const seconds = Math.floor(limits.unauthenticatedKeepAliveMs / 1000)
  const headers = { Connection: 'keep-alive', 'Keep-Alive': `timeout=${seconds}` }
  return function keepAlive(context) {
    const { req, res } = context
    if (connections.isAuthenticated(req.socket) || !res.shouldKeepAlive || res.hasHeader('Connection')) return
    context.set(headers)
  }
}
