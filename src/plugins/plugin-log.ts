import type { Clock } from '../lib/time.ts'
import type { Logger } from '../log.ts'
import type { CallOrigin } from './api-call.ts'
import type { PluginLogLevel } from './messages.ts'

/** A line that a function logged. */
export interface PluginLogLine {
  readonly level: PluginLogLevel
  readonly message: string
}

/** A line that is kept, with the time in ms since 1970 at which it was logged. */
export type KeptLine = PluginLogLine & { readonly at: number }

/** The call that logs, as far as its lines matter. */
interface LoggingRun {
  readonly call: { readonly origin: CallOrigin; readonly forwardLogs: boolean }
  readonly logs: PluginLogLine[]
  logBytes: number
}

interface PluginLogDeps {
  readonly id: string
  readonly clock: Clock
  readonly log: Logger
}

/** The lines of a call, the bytes of them, and the newest ones of a plugin. */
const MAX_LINES = 1_000
const MAX_LINE_BYTES = 256 * 1024
const NEWEST_LINES = 100

/** Lines of a plugin within a second that are kept and forwarded. */
const LINES_PER_SECOND = 500

/** The lines that one plugin logs, as many as the service keeps. */
export class PluginLog {
  /** The newest lines, oldest first. */
  readonly newest: KeptLine[] = []
  readonly #deps: PluginLogDeps
  #within = { second: 0, count: 0 }

  constructor(deps: PluginLogDeps) {
    this.#deps = deps
  }

  /** Keeps a line for the state and for its call, and forwards it where the call wants that. */
  keep(run: LoggingRun | undefined, { level, message }: PluginLogLine): void {
    const { id, clock, log } = this.#deps
    if (!this.#mayKeep()) return
    this.newest.push({ at: clock.now(), level, message })
    if (this.newest.length > NEWEST_LINES) this.newest.shift()
    if (run === undefined) return
    run.logBytes += message.length
    if (run.logs.length < MAX_LINES && run.logBytes <= MAX_LINE_BYTES) run.logs.push({ level, message })
    if (!run.call.forwardLogs) return
    const fields = { plugin: id, request_id: run.call.origin.requestId, message }
    log[level === 'log' ? 'info' : level](fields, 'plugin log')
  }

  #mayKeep(): boolean {
    const second = Math.floor(performance.now() / 1_000)
    this.#within = { second, count: second === this.#within.second ? this.#within.count + 1 : 1 }
    const { count } = this.#within
    if (count === LINES_PER_SECOND + 1)
      this.#deps.log.warn(
        { plugin: this.#deps.id },
        `plugin log has more than ${LINES_PER_SECOND} lines a second; the others are dropped`,
      )
    return count <= LINES_PER_SECOND
  }
}
