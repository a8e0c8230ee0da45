import { setTimeout } from 'node:timers/promises'
import { localUrl } from './config/api-access.ts'
import type { Config } from './config/types.ts'
import { findNotSigning } from './relayers/store.ts'
import { type Connected, connect } from './wiring/connect.ts'
import { type AppDeps, FLUSH_MS, type Opened, open } from './wiring/open.ts'

export type { AppDeps } from './wiring/open.ts'

/** The addresses of the running service, and the relayers that it does not sign for. */
export interface Listening {
  readonly url: string
  readonly metricsUrl?: string
  readonly consoleUrl?: string
  readonly referenceUrl: string
  /** The ids of the relayers that are paused or disabled. */
  readonly relayersNotSigning: readonly string[]
}

/**
 * The longest time in ms for which a start waits for the first rounds of the workers, which would delay the
 * first requests. Most take some milliseconds; those that query an endpoint which does not answer take
 * longer.
 */
const FIRST_ROUNDS_MS = 200

/** The last exports get at least this many ms when a stop is late. */
const MIN_FLUSH_MS = 500

/**
 * Creates the service: it opens what the service stands on, and connects the parts.
 * @throws ConfigError with all problems of the configuration, before anything is started
 */
export async function createApp(config: Config, deps: AppDeps = {}): Promise<App> {
  const opened = await open(config, deps)
  try {
    return new App(opened, await connect(opened))
  } catch (error) {
    await opened.close(FLUSH_MS)
    throw error
  }
}

/** The service, created and not yet started. */
export class App {
  readonly #opened: Opened
  readonly #connected: Connected

  constructor(opened: Opened, connected: Connected) {
    this.#opened = opened
    this.#connected = connected
  }

  /** Starts the workers, and waits for their first rounds for a limited time. */
  async begin(): Promise<void> {
    const begun = Promise.all(this.#connected.permanent.map((loop) => loop.start()))
    await Promise.race([begun, setTimeout(FIRST_ROUNDS_MS)])
  }

  /** Listens. Call it after `begin`. */
  async listen(): Promise<Listening> {
    const { config, database, patiently } = this.#opened
    const { server, instrumentation, plugins } = this.#connected
    const { host, port } = await server.listen()
    const shown = await instrumentation?.listen()
    const url = `http://${host}:${port}`
    plugins?.begin(localUrl({ host, port }))
    return {
      url,
      ...(shown && { metricsUrl: shown.url }),
      ...(config.server.console && { consoleUrl: `${url}/console` }),
      referenceUrl: `${url}/docs`,
      relayersNotSigning: await patiently('the relayers', () => findNotSigning(database.db)),
    }
  }

  /**
   * Compiles the schemas of every operation while requests are served, so that the first request of an
   * operation does not wait for it.
   */
  compileSchemas(): Promise<void> {
    return this.#opened.compiled.validator.compile()
  }

  /**
   * Switches readiness off, accepts requests until the grace period ends, finishes those that have arrived
   * and the current round of every worker, then closes the database.
   */
  async stop(): Promise<void> {
    const { config, log } = this.#opened
    const { server, permanent, plugins, deliveries, runtimeSet, instrumentation } = this.#connected
    const stopAt = performance.now() + config.shutdownMs
    this.#connected.stopping.abort()
    await Promise.all([
      server.drain({ deadlineMs: config.shutdownMs, graceMs: config.shutdownGraceMs }),
      // A worker that cannot write its last results, because the database is unreachable, does not delay the
      // shutdown: they are written again later.
      ...permanent.map((loop) =>
        loop.stop().catch((err) => log.error({ err, loop: loop.name }, 'worker stopped with an error')),
      ),
    ])
    plugins?.stop()
    await this.#connected.unlisten()
    await deliveries.close()
    await runtimeSet.close()
    await instrumentation?.close()
    await this.#opened.close(Math.min(FLUSH_MS, Math.max(MIN_FLUSH_MS, stopAt - performance.now())))
  }
}
