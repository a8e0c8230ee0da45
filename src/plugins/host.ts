import { AppError } from '../errors.ts'
import type { SocketPeer } from '../http/connections/sockets/endpoint.ts'
import type { Clock } from '../lib/time.ts'
import type { Logger } from '../log.ts'
import { type Answer, createAnswering, type PluginTrace } from './answer.ts'
import type { ApiCaller, CallOrigin } from './api-call.ts'
import type { ConnectPlugin, PluginConnection } from './child.ts'
import {
  type CallMessage,
  type FromPlugin,
  type KvMessage,
  ON_SOCKET,
  type PluginErrorFields,
} from './messages.ts'
import { HANDLER, MAX_RESULT_BYTES } from './plugin.ts'
import { type KeptLine, PluginLog, type PluginLogLine } from './plugin-log.ts'
import { parseInner } from './receive.ts'

/** A call of a function that the plugin exports. */
export interface PluginCall extends Omit<CallMessage, 'type' | 'run' | 'socket'> {
  readonly timeoutMs: number
  readonly origin: CallOrigin
  /** Also writes what the function logs to the log of the service. */
  readonly forwardLogs: boolean
  /** The caller needed no API key. */
  readonly isAnonymous: boolean
  /** The WebSocket on which something happened; absent for any other call. */
  readonly socket?: AttachedSocket | undefined
}

/** A WebSocket that belongs to a process of the plugin. It closes when the process ends. */
export interface AttachedSocket {
  /** Names it in messages. */
  readonly number: number
  /** Ends the belonging, when the socket is closed. */
  detach(): void
}

/** The end of a call. */
export type PluginOutcome = {
  /** Requests of the plugin to the API that were no reads. */
  readonly changes: number
  readonly logs: readonly PluginLogLine[]
  readonly traces: readonly PluginTrace[]
} & (
  | { readonly kind: 'result' /** JSON. */; readonly value: string }
  /** The plugin refused in its own words. */
  | { readonly kind: 'refused'; readonly error: PluginErrorFields }
  /**
   * An error that the plugin did not expect, the end of its process, or a result that is no JSON; `reason` is
   * for the operator.
   */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'timeout' }
)

/** The state of a plugin in this process. */
export interface HostState {
  readonly status: 'starting' | 'ready' | 'waiting'
  readonly restarts: number
  readonly running: number
  readonly queued: number
  /** Open WebSockets. */
  readonly sockets: number
  readonly calls: number
  readonly failures: number
  readonly lastFailure?: { readonly at: number; readonly message: string } | undefined
  /** The newest lines, oldest first. */
  readonly logs: readonly KeptLine[]
}

/** Receives what happens to plugins. Its methods must not throw. */
export interface PluginObserver {
  called(call: {
    readonly plugin: string
    readonly method: string
    readonly outcome: PluginOutcome['kind'] | 'unavailable'
    readonly seconds: number
  }): void
  /** A process ended, and another one takes its place. */
  restarted(plugin: string): void
  socketOpened(plugin: string): void
  socketClosed(plugin: string, code: number): void
  socketMessage(plugin: string, direction: 'received' | 'sent'): void
}

interface HostDeps {
  readonly id: string
  /** The configuration names hooks or WebSockets of the plugin; without them, it must have a handler. */
  readonly hasHooks: boolean
  readonly connect: ConnectPlugin
  readonly api: ApiCaller
  readonly kv: (message: KvMessage) => Promise<Answer>
  readonly clock: Clock
  readonly log: Logger
  /** Absent if metrics are off. */
  readonly observer?: PluginObserver | undefined
}

/**
 * Calls in the process at once, those of them that are by callers without an API key, hooks that run besides
 * them, and calls that wait for one of them: of strangers, of others, hooks. What happens on WebSockets runs
 * besides all of them. Strangers at an open path cannot keep callers with a key from an answer, nor the
 * service from asking `before_send`.
 */
const MAX_RUNNING = 128
const MAX_ANONYMOUS = 64
const MAX_HOOKS = 128
const MAX_SOCKET_CALLS = 64
const MAX_ANONYMOUS_SOCKET_CALLS = 32
const MAX_QUEUED = 1_000

/** The kinds of calls that wait, in the order in which they begin. */
const KINDS = ['hooks', 'calls', 'anonymous', 'sockets', 'anonymousSockets'] as const
type Kind = (typeof KINDS)[number]

function kindOf({ entry, isAnonymous, socket }: PluginCall): Kind {
  if (socket !== undefined) return isAnonymous ? 'anonymousSockets' : 'sockets'
  if (entry !== HANDLER) return 'hooks'
  return isAnonymous ? 'anonymous' : 'calls'
}

/** Processes that end with their last call. Many late calls would otherwise leave many of them. */
const MAX_RETIRED = 4

/**
 * The delay in ms before a process starts again: it doubles for each one that lived for less than the time
 * below.
 */
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 60_000
const LONG_LIFE_MS = 10_000

/** A process that does not answer for this time in ms, while it has calls, is in an endless loop. */
const PING_MS = 2_000
const BLOCKED_MS = 10_000

/** One call. */
interface Run {
  readonly call: PluginCall
  readonly logs: PluginLogLine[]
  readonly traces: PluginTrace[]
  logBytes: number
  changes: number
  readonly settle: (end: End) => void
}

type End =
  | { readonly kind: 'result'; readonly value: string }
  | { readonly kind: 'refused'; readonly error: PluginErrorFields }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'timeout' }

/** One process of the plugin. */
interface Process {
  readonly connection: PluginConnection
  readonly startedAt: number
  readonly runs: Map<number, Run>
  readonly sockets: Map<number, SocketPeer>
  isReady: boolean
  /** It takes no further calls, and ends with its last one. */
  isRetired: boolean
  heardAt: number
  /** The error that ends it. */
  problem?: string
}

/**
 * Runs the calls of one plugin in its process, which starts again when it ends. Nothing runs until `begin`.
 */
export class PluginHost {
  readonly #deps: HostDeps
  readonly #answer: ReturnType<typeof createAnswering>
  readonly #log: PluginLog
  /** Those that take no further calls, and end with their last one, are among them. */
  readonly #processes = new Set<Process>()
  readonly #waiting: Readonly<Record<Kind, (() => void)[]>> = {
    hooks: [],
    calls: [],
    anonymous: [],
    sockets: [],
    anonymousSockets: [],
  }
  readonly #firstStart = Promise.withResolvers<void>()
  readonly #counts = { restarts: 0, calls: 0, failures: 0 }
  #current: Process | undefined
  /** The functions that the plugin exports. */
  #entries: readonly string[] = []
  #restart: { readonly at: number; readonly timer: NodeJS.Timeout } | undefined
  #shortLives = 0
  #lastRun = 0
  #lastSocket = 0
  #lastFailure: HostState['lastFailure']
  #isStopped = false

  constructor(deps: HostDeps) {
    this.#deps = deps
    this.#answer = createAnswering(deps)
    this.#log = new PluginLog(deps)
  }

  /** Starts the process. */
  begin(): void {
    if (this.#isStopped) return
    this.#restart = undefined
    const started: Process = {
      connection: this.#deps.connect({
        message: (message) => this.#receive(started, message),
        ended: (reason) => this.#ended(started, reason),
      }),
      startedAt: performance.now(),
      runs: new Map(),
      sockets: new Map(),
      isReady: false,
      isRetired: false,
      heardAt: performance.now(),
    }
    this.#current = started
    this.#processes.add(started)
    this.#watch(started)
  }

  /** Ends the process, and with it every call. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#restart?.timer)
    for (const process of this.#processes) {
      closeSockets(process, SERVICE_STOPS)
      process.connection.end('was ended with the service')
    }
    this.#deps.api.close()
  }

  /** Returns whether the plugin exports a function. Waits for its first start. */
  async exports(entry: string): Promise<boolean> {
    await this.#firstStart.promise
    return this.#entries.includes(entry)
  }

  /**
   * Checks that a WebSocket can be served now.
   * @throws AppError `plugin_unavailable` while no process is ready, and `not_supported` for a plugin without
   * the function for messages
   */
  requireSockets(): void {
    if (this.#isStopped || this.#current?.isReady !== true) throw this.#unavailable()
    if (this.#entries.includes(ON_SOCKET.message)) return
    const { id } = this.#deps
    throw new AppError('not_supported', `Plugin ${id} exports no function ${ON_SOCKET.message}.`)
  }

  /**
   * Makes a WebSocket belong to the present process, which can send to it from now on.
   * @throws AppError as `requireSockets`
   */
  attach(peer: SocketPeer): AttachedSocket {
    this.requireSockets()
    const process = this.#current
    const number = ++this.#lastSocket
    process?.sockets.set(number, peer)
    return { number, detach: () => void process?.sockets.delete(number) }
  }

  state(): HostState {
    const current = this.#current
    return {
      status: current === undefined ? 'waiting' : current.isReady ? 'ready' : 'starting',
      ...this.#counts,
      running: [...this.#processes].reduce((sum, { runs }) => sum + runs.size, 0),
      queued: KINDS.reduce((sum, kind) => sum + this.#waiting[kind].length, 0),
      sockets: [...this.#processes].reduce((sum, { sockets }) => sum + sockets.size, 0),
      lastFailure: this.#lastFailure,
      logs: this.#log.newest,
    }
  }

  /**
   * Calls a function.
   * @throws AppError `plugin_unavailable` if nothing was done: its process starts again, or too many calls
   * wait
   */
  async run(call: PluginCall): Promise<PluginOutcome> {
    const start = performance.now()
    let outcome: PluginOutcome['kind'] | 'unavailable' = 'unavailable'
    try {
      const done = await this.#call(call)
      outcome = done.kind
      return done
    } finally {
      const seconds = (performance.now() - start) / 1_000
      const method = call.socket === undefined ? call.method : 'WEBSOCKET'
      this.#deps.observer?.called({ plugin: this.#deps.id, method, outcome, seconds })
    }
  }

  #call(call: PluginCall): Promise<PluginOutcome> {
    if (this.#isStopped || this.#current === undefined) return Promise.reject(this.#unavailable())
    const kind = kindOf(call)
    const queue = this.#waiting[kind]
    const isFree = this.#mayBegin(kind)
    if (!isFree && queue.length >= MAX_QUEUED) return Promise.reject(this.#unavailable())
    this.#counts.calls += 1
    return new Promise((resolve, reject) => {
      const runId = ++this.#lastRun
      let process: Process | undefined
      const run: Run = {
        call,
        logs: [],
        traces: [],
        logBytes: 0,
        changes: 0,
        settle: (end) => {
          clearTimeout(timer)
          this.#count(end, call)
          resolve({ ...end, logs: run.logs, traces: run.traces, changes: run.changes })
        },
      }
      const dispatch = () => {
        // Another process would not know the socket, which is closed by then.
        if (call.socket !== undefined && this.#current?.sockets.has(call.socket.number) !== true) {
          clearTimeout(timer)
          reject(this.#unavailable())
          return
        }
        process = this.#current
        process?.runs.set(runId, run)
        process?.connection.send({ type: 'call', run: runId, ...messageOf(call) })
      }
      const timer = setTimeout(() => {
        const position = queue.indexOf(dispatch)
        if (position >= 0) {
          queue.splice(position, 1)
          this.#counts.failures += 1
          reject(this.#unavailable())
          return
        }
        process?.runs.delete(runId)
        run.settle({ kind: 'timeout' })
        if (process !== undefined && this.#processes.has(process)) this.#retire(process)
      }, call.timeoutMs)
      if (isFree) dispatch()
      else queue.push(dispatch)
    })
  }

  #mayBegin(kind: Kind): boolean {
    if (this.#current?.isReady !== true) return false
    const running = countKinds(this.#current.runs)
    const onSockets = running.sockets + running.anonymousSockets
    const others = this.#current.runs.size - onSockets
    switch (kind) {
      case 'hooks':
        return others < MAX_RUNNING + MAX_HOOKS
      case 'calls':
        return others < MAX_RUNNING
      case 'anonymous':
        return others < MAX_RUNNING && running.anonymous < MAX_ANONYMOUS
      case 'sockets':
        return onSockets < MAX_SOCKET_CALLS
      case 'anonymousSockets':
        return onSockets < MAX_SOCKET_CALLS && running.anonymousSockets < MAX_ANONYMOUS_SOCKET_CALLS
    }
  }

  #runWaiting(): void {
    for (const kind of KINDS)
      while (this.#waiting[kind].length > 0 && this.#mayBegin(kind)) this.#waiting[kind].shift()?.()
  }

  #unavailable(): AppError {
    const waitMs = this.#restart === undefined ? 1_000 : this.#restart.at - performance.now()
    const reason =
      this.#current === undefined
        ? 'starts again after its process ended'
        : `has ${MAX_QUEUED} calls that wait`
    return new AppError('plugin_unavailable', `Plugin ${this.#deps.id} ${reason}. Nothing was done.`, {
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
    })
  }

  #count(end: End, { timeoutMs }: PluginCall): void {
    if (end.kind !== 'result') this.#counts.failures += 1
    if (end.kind === 'failed') this.#fail(end.reason)
    if (end.kind === 'timeout') this.#fail(`A call did not end within ${timeoutMs / 1_000} s.`)
  }

  #fail(message: string): void {
    this.#lastFailure = { at: this.#deps.clock.now(), message }
  }

  #receive(process: Process, message: FromPlugin): void {
    const { id, hasHooks, log } = this.#deps
    process.heardAt = performance.now()
    switch (message.type) {
      case 'ready':
        if (!message.entries.includes(HANDLER) && !hasHooks) {
          process.connection.end(`exports no function "${HANDLER}", and has no hooks`)
          return
        }
        process.isReady = true
        this.#entries = message.entries
        this.#firstStart.resolve()
        this.#runWaiting()
        return
      case 'pong':
        return
      case 'fatal':
        log.error({ plugin: id, problem: message.message }, 'plugin failed')
        process.problem = message.message
        return
      case 'log':
        this.#log.keep(process.runs.get(message.run), message)
        return
      case 'result':
        this.#finish(process, message.run, toResult(message.value))
        return
      case 'failure': {
        const { isChosen, error } = message
        if (!isChosen) log.warn({ plugin: id, problem: error.message }, 'plugin call failed')
        const end: End = isChosen ? { kind: 'refused', error } : { kind: 'failed', reason: error.message }
        this.#finish(process, message.run, end)
        return
      }
      case 'send':
        if (process.sockets.has(message.run)) this.#deps.observer?.socketMessage(id, 'sent')
        process.sockets.get(message.run)?.send(message.data)
        return
      case 'close':
        process.sockets.get(message.run)?.close(message.code, message.reason)
        return
      case 'refused': {
        const error = { message: message.reason, code: 'INVALID_REQUEST' }
        process.connection.send({ type: 'answer', id: message.id, error })
        return
      }
      case 'api':
      case 'kv':
        void this.#answer(message, {
          run: message.type === 'api' ? process.runs.get(message.run) : undefined,
          isAlive: () => this.#processes.has(process),
          send: process.connection.send,
        })
    }
  }

  #finish(process: Process, runId: number, end: End): void {
    const run = process.runs.get(runId)
    process.runs.delete(runId)
    run?.settle(end)
    endIfIdle(process)
    this.#runWaiting()
  }

  /** Ends a process whose event loop is blocked. */
  #watch(process: Process): void {
    const timer = setInterval(() => {
      if (!this.#processes.has(process)) {
        clearInterval(timer)
        return
      }
      const isBusy = process.runs.size > 0 || process.sockets.size > 0 || !process.isReady
      if (!isBusy) process.heardAt = performance.now()
      else if (performance.now() - process.heardAt > BLOCKED_MS)
        process.connection.end(`was blocked for ${BLOCKED_MS / 1_000} s`)
      else process.connection.send({ type: 'ping' })
    }, PING_MS)
    timer.unref()
  }

  #ended(process: Process, end: string): void {
    const reason = process.problem === undefined ? end : `${end}: ${process.problem}`
    this.#processes.delete(process)
    for (const run of process.runs.values()) run.settle({ kind: 'failed', reason: `Its process ${reason}.` })
    process.runs.clear()
    closeSockets(process, RESTARTS)
    if (process !== this.#current || this.#isStopped) return
    this.#fail(`The process ${reason}.`)
    this.#deps.log.warn({ plugin: this.#deps.id, reason }, 'plugin process ended')
    this.#replace(process, { isFault: true })
  }

  /** Calls that still run in a process with a late one may finish; further ones go to a new process. */
  #retire(process: Process): void {
    process.isRetired = true
    closeSockets(process, RESTARTS)
    if (process === this.#current) this.#replace(process, { isFault: false })
    endIfIdle(process)
    const [oldest, ...others] = [...this.#processes].filter(({ isRetired }) => isRetired)
    if (others.length >= MAX_RETIRED) oldest?.connection.end('had calls that were too late')
  }

  /**
   * A process that ended by a fault waits for its successor from the first time on; a retired one from the
   * second.
   */
  #replace({ startedAt }: Process, { isFault }: { readonly isFault: boolean }): void {
    this.#current = undefined
    this.#shortLives = performance.now() - startedAt < LONG_LIFE_MS ? this.#shortLives + 1 : 0
    const failures = isFault ? this.#shortLives : Math.max(0, this.#shortLives - 1)
    const delay = failures === 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1))
    this.#counts.restarts += 1
    this.#deps.observer?.restarted(this.#deps.id)
    const timer = setTimeout(() => this.begin(), delay)
    timer.unref()
    this.#restart = { at: performance.now() + delay, timer }
  }
}

/** The codes of RFC 6455 for the ends of sockets that the service causes, and the reasons. */
const SERVICE_STOPS = { code: 1_001, reason: 'the service is shutting down' }
const RESTARTS = { code: 1_012, reason: 'the plugin starts again' }

/** A process takes its sockets with it: another one knows nothing of them. */
function closeSockets({ sockets }: Process, { code, reason }: typeof RESTARTS): void {
  for (const peer of sockets.values()) peer.close(code, reason)
  sockets.clear()
}

function countKinds(runs: ReadonlyMap<number, Run>): Readonly<Record<Kind, number>> {
  const counts = { hooks: 0, calls: 0, anonymous: 0, sockets: 0, anonymousSockets: 0 }
  for (const { call } of runs.values()) counts[kindOf(call)] += 1
  return counts
}

function messageOf(call: PluginCall): Omit<CallMessage, 'type' | 'run'> {
  const {
    timeoutMs: _timeout,
    origin: _origin,
    forwardLogs: _forward,
    isAnonymous: _anonymous,
    socket,
    ...message
  } = call
  return { ...message, socket: socket?.number }
}

function endIfIdle({ isRetired, runs, connection }: Process): void {
  if (isRetired && runs.size === 0) connection.end('had a call that was too late')
}

/** The result goes to the caller as it is, so it must be JSON, and not too long. */
function toResult(value: string): End {
  const reason = `The result has more than ${MAX_RESULT_BYTES} bytes.`
  if (Buffer.byteLength(value) > MAX_RESULT_BYTES) return { kind: 'failed', reason }
  try {
    parseInner(value)
    return { kind: 'result', value }
  } catch (error) {
    return { kind: 'failed', reason: `The result cannot be read. ${(error as Error).message}` }
  }
}
