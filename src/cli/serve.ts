import type { App, AppDeps } from '../app.ts'
import { loadConfig, loadPluginHost } from '../config/load.ts'
import type { Config } from '../config/types.ts'
import { startEngineEarly } from '../database/engines/embedded/start-engine.ts'
import { ConfigError } from '../lib/fields.ts'
import { createLogger, type Logger, type LogLevel, maskUrls, toStandardOutput } from '../log.ts'
import type { Telemetry } from '../telemetry/open-telemetry.ts'
import { startTelemetry } from '../telemetry/telemetry.ts'
import { type Command, EXIT } from './command.ts'

/**
 * Time in ms after the shutdown deadline until the process is forced to exit. A shutdown that exceeds the
 * deadline usually ends on its own.
 */
const FORCE_AFTER_MS = 1_000

/** `relayer serve`. */
export const serve: Command = {
  name: 'serve',
  summary: 'Run the service.',
  usage: '[--paused]',
  help: [
    'Reads CONFIG_DIR (default ./config), CONFIG_FILE_NAME (default config.json), the .env beside it, and the environment.',
    'Listens on HOST (0.0.0.0) and APP_PORT (8080). Keeps its data in DATABASE_URL (PostgreSQL) or DATA_DIR (./data).',
    'Waits for a PostgreSQL that cannot be reached yet, for RELAYER_DATABASE_WAIT_SECONDS (60).',
    '--paused first pauses every relayer, including those created over the API: for a database restored from a backup. They stay paused',
    'until they are resumed.',
    'METRICS_ENABLED=true collects metrics and serves them without authentication on METRICS_PORT (8081) of HOST.',
    '',
    'After SIGTERM or SIGINT, the service accepts requests for RELAYER_SHUTDOWN_GRACE_SECONDS (2), while readiness says that it stops,',
    'finishes the running ones and exits with 0, within RELAYER_SHUTDOWN_SECONDS (25). A second signal exits with 1 immediately; no',
    'accepted transaction is lost.',
  ],
  options: [],
  flags: ['paused'],
  hint: 'Settings come from the environment and config/.env: the port from APP_PORT, the address from HOST, the folder from CONFIG_DIR.',
  maxPositionals: 0,
  async run({ flags }) {
    const config = loadConfig()
    const telemetry = await startTelemetry(config.telemetry)
    const log = createServiceLog(config.logLevel, telemetry)
    routeWarnings(({ name, message }) =>
      log.warn({ warning: name, problem: maskUrls(message) }, 'process warning'),
    )
    const stopping = new AbortController()
    const stopRequested = watchSignals((signal) => {
      log.info({ signal }, 'service stopping')
      stopping.abort()
    })
    const startEngine = startEngineEarly(config.database)
    const paused = flags.has('paused')
    const deps = { log, telemetry, startEngine, paused, signal: stopping.signal }
    const app = await start(config, deps).catch((error) => {
      // Problems of the configuration are printed once, as a list for a person.
      if (!(error instanceof ConfigError)) log.fatal({ err: error }, 'service start failed')
      throw error
    })
    await app.compileSchemas()
    await stopRequested
    return stopWithin(app.stop(), config.shutdownMs + FORCE_AFTER_MS)
  },
}

/** `relayer plugins serve`. */
export const pluginsServe: Command = {
  name: 'plugins serve',
  summary: 'Run plugins for a service in another container.',
  usage: '',
  help: [
    'Reads the list "plugins" of the configuration file of serve (CONFIG_DIR, CONFIG_FILE_NAME), and nothing else of it: no key, no signer and',
    'no database. The variables that the plugins name in "env" must be here.',
    '',
    'Listens on HOST (0.0.0.0) and RELAYER_PLUGINS_PORT (8090) for the service, whose RELAYER_PLUGINS_URL (ws://…) names this host. Both have the',
    'same RELAYER_PLUGINS_SECRET of at least 32 characters. It opens no connection to the service.',
  ],
  options: [],
  maxPositionals: 0,
  async run() {
    const { logLevel, ...settings } = loadPluginHost()
    const log = createLogger({ level: logLevel })
    const stopped = Promise.withResolvers<void>()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve())
    const { servePlugins } = await import('../plugins/remote.ts')
    const running = await servePlugins(settings, log)
    log.info({ port: running.port, plugins: settings.plugins.map(({ id }) => id) }, 'plugin host ready')
    await stopped.promise
    running.stop()
    return EXIT.ok
  },
}

/** Creates the service and starts listening. */
async function start(config: Config, deps: AppDeps): Promise<App> {
  // The service is imported here, so that the other commands do not load it.
  const { createApp } = await import('../app.ts')
  const app = await createApp(config, deps)
  await app.begin()
  deps.log?.info(await app.listen(), 'service ready')
  return app
}

/** Lines within a span have its ids, and every line is exported where logs are. */
function createServiceLog(level: LogLevel, telemetry: Telemetry | undefined): Logger {
  const settings = { level, mixin: telemetry?.traces?.logFields }
  const exportEntry = telemetry?.exportEntry
  if (exportEntry === undefined) return createLogger(settings)
  return createLogger(settings, {
    write: (line) => {
      toStandardOutput(line)
      exportEntry(line)
    },
  })
}

/** Resolves at the first signal. The second one ends the process. */
function watchSignals(onStop: (signal: string) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let stopRequested = false
  const handle = (signal: string) => {
    if (stopRequested) process.exit(EXIT.failed)
    stopRequested = true
    onStop(signal)
    resolve()
  }
  process.on('SIGTERM', handle)
  process.on('SIGINT', handle)
  return promise
}

async function stopWithin(stopped: Promise<void>, deadlineMs: number): Promise<number> {
  const { promise: late, resolve } = Promise.withResolvers<number>()
  const timer = setTimeout(() => resolve(EXIT.failed), deadlineMs)
  try {
    return await Promise.race([stopped.then(() => EXIT.ok), late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Hands the warnings of Node.js and of libraries over, in place of their lines on standard error: who
 * collects logs expects one form. Nothing changes where warnings are switched off (`--no-warnings`). Returns
 * a function that ends it.
 */
export function routeWarnings(tell: (warning: Error) => void): () => void {
  const printers = process.listeners('warning')
  if (printers.length === 0) return () => undefined
  process.removeAllListeners('warning')
  process.on('warning', tell)
  return () => {
    process.off('warning', tell)
    for (const printer of printers) process.on('warning', printer)
  }
}
