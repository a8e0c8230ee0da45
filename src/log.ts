import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'

export type { Logger }

/** The least severe level that the log writes. */
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

const HIDDEN = '[secret]'

/** Fields that never appear in the output, at the top of a log object or one level below (I11). */
const SECRET_FIELDS = [
  'apiKey',
  'apiKeys',
  'api_key',
  'authorization',
  'Authorization',
  'key',
  'passphrase',
  'password',
  'privateKey',
  'private_key',
  'signingKey',
  'signing_key',
  'token',
]

/**
 * Matches urls inside a text. Credentials, path and query are removed, because RPC providers and databases
 * have their keys there.
 */
const URL_IN_TEXT = /\b((?:https?|wss?|postgres(?:ql)?):\/\/)([^\s/@"']*@)?([^\s/?#"')]+)([^\s"')]*)/gi

/** The standard output of the process, shared by all loggers so that their lines keep their order. */
const standardOutput = pino.destination({ fd: 1, sync: true })

interface LoggerSettings {
  readonly level: LogLevel
  /** Returns fields for each line, e.g. the ids of the present trace. */
  readonly mixin?: (() => object) | undefined
}

/** The standard output of this process, for those who write log lines elsewhere as well. */
export function toStandardOutput(line: string): void {
  standardOutput.write(line)
}

/**
 * Creates a logger that writes JSON lines without secrets to `destination`, by default to standard output.
 */
export function createLogger(
  { level, mixin }: LoggerSettings,
  destination: DestinationStream = standardOutput,
): Logger {
  const options: LoggerOptions = {
    level,
    ...(mixin && { mixin }),
    timestamp: createTimestamp(),
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `req.headers.${field}`]),
      censor: HIDDEN,
    },
    serializers: { err: describeError },
  }
  return pino(options, destination)
}

const SECOND_MS = 1_000

/**
 * Creates a timestamp function that formats a second only once. pino's `isoTime` formats each line, and under
 * load many lines share a second.
 */
function createTimestamp(): () => string {
  let second = Number.NaN
  let text = ''
  return () => {
    const now = Date.now()
    const milliseconds = now % SECOND_MS
    if (now - milliseconds !== second) {
      second = now - milliseconds
      text = `,"time":"${new Date(second).toISOString().slice(0, -'000Z'.length)}`
    }
    return `${text}${String(milliseconds).padStart(3, '0')}Z"`
  }
}

/** Cuts every url in a text down to scheme and host, with `/***` where the rest was hidden. */
export function maskUrls(text: string): string {
  return text.replace(
    URL_IN_TEXT,
    (_, scheme: string, user: string | undefined, host: string, rest: string) =>
      user === undefined && /^\/?[.,:;]?$/.test(rest) ? scheme + host + rest : `${scheme}${host}/***`,
  )
}

/**
 * Reduces an error to name, code, message and stack for the log. Clients attach requests, headers and whole
 * configurations to their errors, and their messages contain full RPC urls (I11).
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { cause } = error
  return {
    type: error.name,
    ...('code' in error && { code: error.code }),
    message: maskUrls(error.message),
    stack: maskUrls(error.stack ?? ''),
    ...(cause !== undefined && { cause: describeError(cause) }),
  }
}
