import { AppError } from '../errors.ts'
import type { Clock } from '../lib/time.ts'
import type { Logger } from '../log.ts'
import { type Answer, createAnswering, type PluginTrace } from './answer.ts'
import type { ApiCaller, CallOrigin } from './api-call.ts'
import type { ConnectPlugin, PluginConnection } from './child.ts'
import type { CallMessage, FromPlugin, KvMessage, PluginErrorFields, PluginLogLevel } from './messages.ts'
import { HANDLER, MAX_RESULT_BYTES } from './plugin.ts'
import { parseInner } from './receive.ts'

/** A call of a function that the plugin exports. */
export interface PluginCall extends Omit<CallMessage, 'type' | 'run'> {
  readonly timeoutMs: number
  readonly origin: CallOrigin
  /** Also writes what the function logs to the log of the service. */
  readonly forwardLogs: boolean
  /** The caller needed no API key. */
  readonly isAnonymous: boolean
}

/** A line that a function logged. */
export interface PluginLogLine {
  readonly level: PluginLogLevel
  readonly message: string
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
  /** An error that the plugin did not expect, the end of its process, or a result that is no JSON; `reason` is for the operator. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'timeout' }
)

/** The state of a plugin in this process. */
export interface HostState {
  readonly status: 'starting' | 'ready' | 'waiting'
  readonly restarts: number
  readonly running: number
  readonly queued: number
  readonly calls: number
  readonly failures: number
  readonly lastFailure?: { readonly at: number; readonly message: string } | undefined
  /** The newest lines, oldest first. */
  readonly logs: readonly (PluginLogLine & { readonly at: number })[]
}

/** Runs the calls of one plugin in its process. */
export interface PluginHost {
  /**
   * Calls a function.
   * @throws AppError `plugin_unavailable` if nothing was done: its process starts again, or too many calls wait
   */
  run(call: PluginCall): Promise<PluginOutcome>
  /** Returns whether the plugin exports a function. Waits for its first start. */
  exports(entry: string): Promise<boolean>
  state(): HostState
  /** Starts the process. */
  begin(): void
  /** Ends the process, and with it every call. */
  stop(): void
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
}

interface HostDeps {
  readonly id: string
  /** The configuration names hooks of the plugin; without them, it must have a handler. */
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
 * them, and calls that wait for one of them: of strangers, of others, hooks. Strangers at an open path cannot
 * keep callers with a key from an answer, nor the service from asking `before_send`.
 */
const MAX_RUNNING = 128
const MAX_ANONYMOUS = 64
const MAX_HOOKS = 128
const MAX_QUEUED = 1_000

/** The kinds of calls that wait, in the order in which they begin. */
const KINDS = ['hooks', 'calls', 'anonymous'] as const
type Kind = (typeof KINDS)[number]

function kindOf({ entry, isAnonymous }: PluginCall): Kind {
  if (entry !== HANDLER) return 'hooks'
  return isAnonymous ? 'anonymous' : 'calls'
}

/** Processes that end with their last call. Many late calls would otherwise leave many of them. */
const MAX_RETIRED = 4

/** The delay in ms before a process starts again: it doubles for each one that lived for less than the time below. */
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 60_000
const LONG_LIFE_MS = 10_000

/** A process that does not answer for this time in ms, while it has calls, is in an endless loop. */
const PING_MS = 2_000
const BLOCKED_MS = 10_000

/** The lines of a call, the bytes of them, and the newest ones of a plugin. */
const MAX_LINES = 1_000
const MAX_LINE_BYTES = 256 * 1024
const NEWEST_LINES = 100

/** Lines of a plugin within a second that are kept and forwarded. */
const LINES_PER_SECOND = 500

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
  isReady: boolean
  /** It takes no further calls, and ends with its last one. */
  isRetired: boolean
  heardAt: number
  /** The error that ends it. */
  problem?: string
}

/** Creates the host of a plugin. Nothing runs until `begin`. */
export function createPluginHost({
  id,
  hasHooks,
  connect,
  api,
  kv,
  clock,
  log,
  observer,
}: HostDeps): PluginHost {
  let current: Process | undefined
  let entries: readonly string[] = []
  const firstStart = Promise.withResolvers<void>()
  let restartAt: number | undefined
  let restartTimer: NodeJS.Timeout | undefined
  let isStopped = false
  let shortLives = 0
  let lastRun = 0
  const answer = createAnswering({ id, api, kv, log })
  const queues: Readonly<Record<Kind, (() => void)[]>> = { hooks: [], calls: [], anonymous: [] }
  const processes = new Set<Process>()
  const counts = { restarts: 0, calls: 0, failures: 0 }
  let lastFailure: HostState['lastFailure']
  const newest: (PluginLogLine & { readonly at: number })[] = []
  let lines = { second: 0, count: 0 }

  function begin(): void {
    if (isStopped) return
    restartAt = undefined
    const started: Process = {
      connection: connect({
        message: (message) => receive(started, message),
        ended: (reason) => ended(started, reason),
      }),
      startedAt: performance.now(),
      runs: new Map(),
      isReady: false,
      isRetired: false,
      heardAt: performance.now(),
    }
    current = started
    processes.add(started)
    watch(started)
  }

  /** Ends a process whose event loop is blocked. */
  function watch(process: Process): void {
    const timer = setInterval(() => {
      if (!processes.has(process)) {
        clearInterval(timer)
        return
      }
      const isBusy = process.runs.size > 0 || !process.isReady
      if (!isBusy) process.heardAt = performance.now()
      else if (performance.now() - process.heardAt > BLOCKED_MS)
        process.connection.end(`was blocked for ${BLOCKED_MS / 1_000} s`)
      else process.connection.send({ type: 'ping' })
    }, PING_MS)
    timer.unref()
  }

  function ended(process: Process, end: string): void {
    const reason = process.problem === undefined ? end : `${end}: ${process.problem}`
    processes.delete(process)
    const lived = performance.now() - process.startedAt
    for (const run of process.runs.values()) run.settle({ kind: 'failed', reason: `Its process ${reason}.` })
    process.runs.clear()
    if (process !== current || isStopped) return
    current = undefined
    fail(`The process ${reason}.`)
    log.warn({ plugin: id, reason }, 'plugin process ended')
    shortLives = lived < LONG_LIFE_MS ? shortLives + 1 : 0
    restart(shortLives)
  }

  function restart(failures: number): void {
    counts.restarts += 1
    observer?.restarted(id)
    const delay = failures === 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1))
    restartAt = performance.now() + delay
    restartTimer = setTimeout(begin, delay)
    restartTimer.unref()
  }

  /** Calls that still run in a process with a late one may finish; further ones go to a new process. */
  function retire(process: Process): void {
    process.isRetired = true
    if (process === current) {
      current = undefined
      shortLives = performance.now() - process.startedAt < LONG_LIFE_MS ? shortLives + 1 : 0
      restart(Math.max(0, shortLives - 1))
    }
    endIfIdle(process)
    const [oldest, ...others] = [...processes].filter(({ isRetired }) => isRetired)
    if (others.length >= MAX_RETIRED) oldest?.connection.end('had calls that were too late')
  }

  function endIfIdle(process: Process): void {
    if (process.isRetired && process.runs.size === 0) process.connection.end('had a call that was too late')
  }

  function fail(message: string): void {
    lastFailure = { at: clock.now(), message }
  }

  function receive(process: Process, message: FromPlugin): void {
    process.heardAt = performance.now()
    switch (message.type) {
      case 'ready':
        if (!message.entries.includes(HANDLER) && !hasHooks) {
          process.connection.end(`exports no function "${HANDLER}", and has no hooks`)
          return
        }
        process.isReady = true
        entries = message.entries
        firstStart.resolve()
        runWaiting()
        return
      case 'pong':
        return
      case 'fatal':
        log.error({ plugin: id, problem: message.message }, 'plugin failed')
        process.problem = message.message
        return
      case 'log':
        keepLine(process.runs.get(message.run), message)
        return
      case 'result':
        finish(process, message.run, toResult(message.value))
        return
      case 'failure': {
        const { isChosen, error } = message
        if (!isChosen) log.warn({ plugin: id, problem: error.message }, 'plugin call failed')
        const end: End = isChosen ? { kind: 'refused', error } : { kind: 'failed', reason: error.message }
        finish(process, message.run, end)
        return
      }
      case 'refused': {
        const { id, reason } = message
        process.connection.send({
          type: 'answer',
          id,
          error: { message: reason, code: 'INVALID_REQUEST' },
        })
        return
      }
      case 'api':
      case 'kv':
        void answer(message, {
          run: message.type === 'api' ? process.runs.get(message.run) : undefined,
          isAlive: () => processes.has(process),
          send: process.connection.send,
        })
    }
  }

  function finish(process: Process, runId: number, end: End): void {
    const run = process.runs.get(runId)
    process.runs.delete(runId)
    run?.settle(end)
    endIfIdle(process)
    runWaiting()
  }

  function mayBegin(kind: Kind): boolean {
    if (current?.isReady !== true) return false
    const { size } = current.runs
    if (kind === 'hooks') return size < MAX_RUNNING + MAX_HOOKS
    if (kind === 'calls') return size < MAX_RUNNING
    const anonymous = [...current.runs.values()].filter(({ call }) => kindOf(call) === 'anonymous').length
    return size < MAX_RUNNING && anonymous < MAX_ANONYMOUS
  }

  function runWaiting(): void {
    for (const kind of KINDS) while (queues[kind].length > 0 && mayBegin(kind)) queues[kind].shift()?.()
  }

  function keepLine(run: Run | undefined, { level, message }: PluginLogLine): void {
    const second = Math.floor(performance.now() / 1_000)
    lines = second === lines.second ? { second, count: lines.count + 1 } : { second, count: 1 }
    if (lines.count > LINES_PER_SECOND) {
      if (lines.count === LINES_PER_SECOND + 1)
        log.warn(
          { plugin: id },
          `plugin log has more than ${LINES_PER_SECOND} lines a second; the others are dropped`,
        )
      return
    }
    newest.push({ at: clock.now(), level, message })
    if (newest.length > NEWEST_LINES) newest.shift()
    if (run === undefined) return
    run.logBytes += message.length
    if (run.logs.length < MAX_LINES && run.logBytes <= MAX_LINE_BYTES) run.logs.push({ level, message })
    if (!run.call.forwardLogs) return
    const fields = { plugin: id, request_id: run.call.origin.requestId, message }
    log[level === 'log' ? 'info' : level](fields, 'plugin log')
  }

  function unavailable(): AppError {
    const waitMs = restartAt === undefined ? 1_000 : restartAt - performance.now()
    const reason =
      current === undefined ? 'starts again after its process ended' : `has ${MAX_QUEUED} calls that wait`
    return new AppError('plugin_unavailable', `Plugin ${id} ${reason}. Nothing was done.`, {
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
    })
  }

  function run(call: PluginCall): Promise<PluginOutcome> {
    if (isStopped || current === undefined) return Promise.reject(unavailable())
    const kind = kindOf(call)
    const queue = queues[kind]
    const isFree = mayBegin(kind)
    if (!isFree && queue.length >= MAX_QUEUED) return Promise.reject(unavailable())
    counts.calls += 1
    return new Promise((resolve, reject) => {
      const runId = ++lastRun
      let process: Process | undefined
      const entry: Run = {
        call,
        logs: [],
        traces: [],
        logBytes: 0,
        changes: 0,
        settle: (end) => {
          clearTimeout(timer)
          if (end.kind !== 'result') counts.failures += 1
          if (end.kind === 'failed') fail(end.reason)
          if (end.kind === 'timeout') fail(`A call did not end within ${call.timeoutMs / 1_000} s.`)
          resolve({ ...end, logs: entry.logs, traces: entry.traces, changes: entry.changes })
        },
      }
      const dispatch = () => {
        if (current === undefined) return
        process = current
        process.runs.set(runId, entry)
        const {
          timeoutMs: _timeout,
          origin: _origin,
          forwardLogs: _forward,
          isAnonymous: _isAnonymous,
          ...message
        } = call
        process.connection.send({ type: 'call', run: runId, ...message })
      }
      const timer = setTimeout(() => {
        const waits = queue.indexOf(dispatch)
        if (waits >= 0) {
          queue.splice(waits, 1)
          counts.failures += 1
          reject(unavailable())
          return
        }
        process?.runs.delete(runId)
        entry.settle({ kind: 'timeout' })
        if (process !== undefined && processes.has(process)) retire(process)
      }, call.timeoutMs)
      if (isFree) dispatch()
      else queue.push(dispatch)
    })
  }

  async function observed(call: PluginCall): Promise<PluginOutcome> {
    const start = performance.now()
    let outcome: PluginOutcome['kind'] | 'unavailable' = 'unavailable'
    try {
      const done = await run(call)
      outcome = done.kind
      return done
    } finally {
      const seconds = (performance.now() - start) / 1_000
      observer?.called({ plugin: id, method: call.method, outcome, seconds })
    }
  }

  return {
    begin,
    run: observer === undefined ? run : observed,
    exports: async (entry) => {
      await firstStart.promise
      return entries.includes(entry)
    },
    state: () => ({
      status: current === undefined ? 'waiting' : current.isReady ? 'ready' : 'starting',
      ...counts,
      running: [...processes].reduce((sum, { runs }) => sum + runs.size, 0),
      queued: KINDS.reduce((sum, kind) => sum + queues[kind].length, 0),
      lastFailure,
      logs: newest,
    }),
    stop: () => {
      isStopped = true
      clearTimeout(restartTimer)
      for (const { connection } of processes) connection.end('was ended with the service')
      api.close()
    },
  }
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
