import { ANONYMOUS } from '../../access/principal.ts'
import { AppError } from '../../errors.ts'
import {
  CLOSE,
  type SocketEndpoint,
  type SocketPeer,
  type SocketRequest,
  type SocketSession,
} from '../../http/connections/sockets/endpoint.ts'
import type { AttachedSocket, PluginObserver } from '../../plugins/host.ts'
import type { Plugin, PluginManager } from '../../plugins/manage.ts'
import { ON_SOCKET } from '../../plugins/messages.ts'
import type { PluginSockets } from '../../plugins/plugin.ts'
import { headersFor } from './headers.ts'

interface EndpointParts {
  readonly manager: PluginManager
  readonly plugin: Plugin
  readonly observer: PluginObserver | undefined
}

/** Creates what serves the WebSockets of a plugin with the functions that it exports. */
export function createSocketEndpoint(
  parts: EndpointParts,
  { path, keyParameter, max, maxPerCaller }: PluginSockets,
): SocketEndpoint {
  return {
    path,
    keyParameter,
    scope: 'plugins:call',
    most: { all: max, perCaller: maxPerCaller },
    prepare: async (request) => {
      parts.plugin.host.requireSockets()
      return createSession(parts, request)
    },
  }
}

/**
 * Serves one socket: each thing that happens on it is a call of the plugin, with the limits, the log and the
 * audit of any other. A call that fails closes the socket.
 */
function createSession({ manager, plugin, observer }: EndpointParts, request: SocketRequest): SocketSession {
  const { config: entry, host } = plugin
  const { actor, route, query, requestId } = request
  const headers = headersFor(entry.forwardHeaders, request)
  let peer: SocketPeer | undefined
  let socket: AttachedSocket | undefined

  async function call(name: string, params: object): Promise<void> {
    try {
      const { timeout, forwardLogs, config } = await plugin.settings()
      const outcome = await manager.call(actor, plugin, {
        entry: name,
        params: JSON.stringify(params),
        config: config && JSON.stringify(config),
        route,
        method: 'GET',
        query,
        headers,
        timeoutMs: timeout * 1_000,
        origin: { requestId, depth: 0 },
        forwardLogs,
        isAnonymous: actor.keyId === ANONYMOUS.id,
        socket,
      })
      if (outcome.kind === 'refused') peer?.close(CLOSE.policyViolation, outcome.error.message)
      if (outcome.kind === 'failed') peer?.close(CLOSE.internalError, 'the plugin failed')
      if (outcome.kind === 'timeout')
        peer?.close(CLOSE.internalError, `the plugin did not answer within ${timeout} s`)
    } catch (error) {
      peer?.close(...toClose(error))
    }
  }

  return {
    opened: async (opened) => {
      peer = opened
      observer?.socketOpened(entry.id)
      try {
        socket = host.attach(opened)
      } catch (error) {
        opened.close(...toClose(error))
        return
      }
      await call(ON_SOCKET.open, {})
    },
    message: async (data) => {
      observer?.socketMessage(entry.id, 'received')
      await call(ON_SOCKET.message, { data })
    },
    closed: async (code, reason) => {
      observer?.socketClosed(entry.id, code)
      if (socket === undefined) return
      await call(ON_SOCKET.close, { code, reason })
      socket.detach()
    },
  }
}

/** The process of the plugin, or the database, is away: the caller may connect again. */
function toClose(error: unknown): [code: number, reason: string] {
  return error instanceof AppError && error.code === 'plugin_unavailable'
    ? [CLOSE.serviceRestart, 'the plugin starts again']
    : [CLOSE.internalError, 'the service failed']
}
