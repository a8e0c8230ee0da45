import { format } from 'node:util'
import { type CallMessage, LOG_LEVELS, MAX_LOG_LINE, ON_SOCKET, type PluginErrorFields } from '../messages.ts'
import { currentRun, openChannel, readJson, send, writeJson } from './channel.ts'
import { api, kv } from './context.ts'
import { givenRunner } from './sdk.ts'
import { forgetSocket, socketOf } from './sockets.ts'

type Handler = (...parameters: unknown[]) => unknown

for (const level of LOG_LEVELS) {
  console[level] = (...values: unknown[]) => {
    const message = format(...values)
    const run = currentRun.getStore() ?? 0
    send({ type: 'log', run, level, message: message.slice(0, MAX_LOG_LINE) })
  }
}

process.on('uncaughtException', (error: unknown) => {
  send({ type: 'fatal', message: describe(error) })
  setTimeout(() => process.exit(1), 50)
})
process.on('unhandledRejection', (reason: unknown) => {
  const message = `A promise was rejected, and nothing handled it: ${describe(reason)}`
  send({ type: 'log', run: currentRun.getStore() ?? 0, level: 'error', message })
})

/**
 * What the plugin exports. It is empty while the plugin is loaded; the service sends no call before `ready`.
 */
let module: Readonly<Record<string, unknown>> = {}

// The pipe is open before the plugin is loaded, so that the service learns why it cannot be.
openChannel((message) => {
  if (message.type === 'ping') send({ type: 'pong' })
  else void currentRun.run(message.run, () => serve(message))
})

/** Serves the calls of the service with the functions that the module exports. */
export function start(plugin: Readonly<Record<string, unknown>>): void {
  module = moduleOf(plugin)
  const entries = Object.keys(module).filter((name) => typeof module[name] === 'function')
  const hasRunner = module.handler === undefined && givenRunner() !== undefined
  send({ type: 'ready', entries: hasRunner ? [...entries, 'handler'] : entries })
}

/** A module of CommonJS has its exports in `default`. */
function moduleOf(plugin: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { default: inner } = plugin
  if (plugin.handler !== undefined || typeof inner !== 'object' || inner === null) return plugin
  return { ...inner, ...plugin }
}

async function serve(call: CallMessage): Promise<void> {
  const { run, entry, socket } = call
  if (entry === ON_SOCKET.close && socket !== undefined) forgetSocket(socket)
  try {
    const value = await invoke(module[entry] as Handler | undefined, call)
    send({ type: 'result', run, value: writeJson(value) })
  } catch (error) {
    send({ type: 'failure', run, ...toFailure(error) })
  }
}

/** The number of parameters tells the form of a handler, as in OpenZeppelin Relayer. */
function invoke(handler: Handler | undefined, call: CallMessage): unknown {
  const { entry } = call
  const params = readJson(call.params)
  const runner = givenRunner() as Handler | undefined
  if (handler === undefined && entry === 'handler' && runner !== undefined) return runner(api, params)
  const isOptional = entry === ON_SOCKET.open || entry === ON_SOCKET.close
  if (handler === undefined && isOptional) return undefined
  if (handler === undefined) throw new Error(`The plugin exports no function ${entry}.`)
  if (handler.length >= 2) return handler(api, params)
  const { route, method, query, headers, body } = call
  const config = call.config === undefined ? undefined : readJson(call.config)
  const context = { api, params, kv, headers, route, method, query, config, body }
  return handler(call.socket === undefined ? context : { ...context, socket: socketOf(call.socket) })
}

/**
 * Only an error with the fields of `PluginError` was meant for the caller. The package of OpenZeppelin has a
 * class of its own.
 */
function toFailure(error: unknown): { isChosen: boolean; error: PluginErrorFields } {
  const { name, message, code, status, details } = (error ?? {}) as Readonly<Record<string, unknown>>
  if (name !== 'PluginError') return { isChosen: false, error: { message: describe(error) } }
  return {
    isChosen: true,
    error: {
      message: String(message),
      code: code === undefined ? undefined : String(code),
      status: typeof status === 'number' ? status : undefined,
      details: details === undefined ? undefined : writeJson(details),
    },
  }
}

function describe(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : format(error)
  return text.slice(0, MAX_LOG_LINE)
}
