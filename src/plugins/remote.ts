import { timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { WebSocket, WebSocketServer } from 'ws'
import { hashSecret } from '../access/api-key.ts'
import type { Logger } from '../log.ts'
import { bundlePlugin, type PluginBundle } from './bundle.ts'
import { DOES_NOT_READ, MAX_UNREAD_BYTES, type PluginConnection, startChild } from './child.ts'
import type { PluginListener, ToPlugin } from './messages.ts'
import type { PluginConfig, PluginHostAddress, PluginUser } from './plugin.ts'
import { createReceiver } from './receive.ts'

/**
 * Plugins in another container: the service opens one WebSocket for each process of a plugin, and the host
 * there, `relayer plugins serve`, starts the process and passes the messages on. Queue, time-outs, keys,
 * store and API stay in the service, so the host needs none of its secrets, and no way to it.
 */

/** Bytes of a message, as on the pipe of a process. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024

/** The time in ms between two pings, and until a connection without an answer counts as lost. */
const PING_MS = 10_000

/** The status of a WebSocket that the end of a process closes; its reason has at most 123 bytes. */
const PROCESS_ENDED = 4_000
const MAX_REASON = 120

/** Asks another host for a process of a plugin. */
export function connectRemote(
  { url, secret }: PluginHostAddress,
  id: string,
  listener: PluginListener,
): PluginConnection {
  const socket = new WebSocket(`${url.replace(/\/+$/, '')}/plugins/${encodeURIComponent(id)}`, {
    headers: { authorization: `Bearer ${secret}` },
    handshakeTimeout: PING_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  let reason: string | undefined
  let isAlive = true
  const end = (why: string) => {
    reason ??= why
    socket.terminate()
  }
  const waiting: ToPlugin[] = []
  const pings = setInterval(() => {
    if (!isAlive) end('is on a host that does not answer')
    isAlive = false
    if (socket.readyState === WebSocket.OPEN) socket.ping()
  }, PING_MS)
  pings.unref()
  const receive = createReceiver(listener, { end, source: socket })
  socket.on('open', () => {
    isAlive = true
    for (const message of waiting.splice(0)) socket.send(JSON.stringify(message))
  })
  socket.on('pong', () => {
    isAlive = true
  })
  socket.on('message', (data) => {
    isAlive = true
    if (reason !== undefined) return
    const line = String(data)
    receive.bytes(line.length)
    receive.line(line)
  })
  socket.on('error', (error) => {
    reason ??= `cannot be reached at RELAYER_PLUGINS_URL: ${error.message}`
  })
  socket.once('close', (code, text) => {
    clearInterval(pings)
    listener.ended(reason ?? (code === PROCESS_ENDED ? String(text) : 'lost the connection to its host'))
  })
  return {
    send: (message) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
      else waiting.push(message)
      if (socket.bufferedAmount > MAX_UNREAD_BYTES) end(DOES_NOT_READ)
    },
    end,
  }
}

/** The settings of a host. */
export interface PluginHostSettings {
  readonly plugins: readonly PluginConfig[]
  readonly secret: string
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** The user of the processes; if absent, that of this process. */
  readonly user?: PluginUser | undefined
}

/** A host that listens. */
export interface RunningPluginHost {
  readonly port: number
  stop(): void
}

/**
 * Serves processes of plugins to the service. Who connects needs the secret, and the end of a connection ends
 * its process.
 * @throws ConfigError for a plugin that does not compile
 */
export async function servePlugins(
  { plugins, secret, host, port, user }: PluginHostSettings,
  log: Logger,
): Promise<RunningPluginHost> {
  const bundles = new Map<string, PluginBundle>()
  for (const plugin of plugins)
    bundles.set(plugin.id, await bundlePlugin(plugin, plugin.file ?? plugin.path, user))
  const server = createServer((_, response) => response.writeHead(404).end())
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  const wanted = hashSecret(`Bearer ${secret}`)
  server.on('upgrade', (request, connection, head) => {
    connection.on('error', () => undefined)
    const { authorization = '', 'user-agent': _agent } = request.headers
    const id = /^\/plugins\/([^/?]+)$/.exec(request.url ?? '')?.[1]
    const plugin = plugins.find((known) => encodeURIComponent(known.id) === id)
    const bundle = plugin && bundles.get(plugin.id)
    const isAllowed = timingSafeEqual(hashSecret(authorization), wanted)
    if (!isAllowed || plugin === undefined || bundle === undefined) {
      connection.end(
        `HTTP/1.1 ${isAllowed ? '404 Not Found' : '401 Unauthorized'}\r\nConnection: close\r\n\r\n`,
      )
      return
    }
    sockets.handleUpgrade(request, connection, head, (socket) =>
      serveProcess(socket, { plugin, bundle, user, log }),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    stop: () => {
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
      server.close()
      for (const bundle of bundles.values()) bundle.remove()
    },
  }
}

interface Served {
  readonly plugin: PluginConfig
  readonly bundle: PluginBundle
  readonly user: PluginUser | undefined
  readonly log: Logger
}

function serveProcess(socket: WebSocket, { plugin: { id, env, memoryMb }, bundle, user, log }: Served): void {
  log.info({ plugin: id }, 'plugin process starts')
  const child = startChild(
    { bundle, env, memoryMb, user },
    {
      message: (message) => socket.send(JSON.stringify(message)),
      ended: (reason) => {
        log.info({ plugin: id, reason }, 'plugin process ended')
        socket.close(
          PROCESS_ENDED,
          Buffer.from(reason).subarray(0, MAX_REASON).toString().replaceAll('\ufffd', ''),
        )
      },
    },
  )
  socket.on('message', (data) => {
    const message = parse(String(data))
    if (message === undefined) socket.terminate()
    else child.send(message)
  })
  socket.on('error', (error) => log.warn({ plugin: id, problem: error.message }, 'plugin connection failed'))
  socket.once('close', () => child.end('lost the connection to the service'))
}

/** A message that is not JSON does not end the host. */
function parse(text: string): ToPlugin | undefined {
  try {
    return JSON.parse(text) as ToPlugin
  } catch {
    return undefined
  }
}
