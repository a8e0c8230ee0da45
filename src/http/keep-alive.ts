import type { Connections } from './connections.ts'
import type { Middleware } from './state.ts'

/**
 * Announces the life of the idle connection, which depends on whether it has shown a valid key. The header of Node would name the same
 * time on all connections.
 */
export function keepAlive(connections: Connections): Middleware {
  return async function keepAlive(context, next) {
    await next()
    const { req, res } = context
    if (!res.shouldKeepAlive || res.hasHeader('Connection')) return
    const seconds = Math.floor(connections.keepAliveMs(req.socket) / 1000)
    context.set({ Connection: 'keep-alive', 'Keep-Alive': `timeout=${seconds}` })
  }
}
