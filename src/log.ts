import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'

export type { Logger }

/** The least severe level that the log writes. */
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

const HIDDEN = '[secret]'

/** Fields that never reach the output, at the top of a log object or one level below. */
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

/** Credentials, path and query of any url inside a text: that is where RPC providers and databases keep their keys. */
const URL_IN_TEXT = /\b((?:https?|wss?|postgres(?:ql)?):\/\/)(?:[^\s/@"']*@)?([^\s/?#"')]+)[^\s"')]*/g

/**
 * Collects the lines of one turn of the event loop and writes them together: under load a system call for each line costs
 * as much as the request that it tells of. A process that is killed loses at most the lines of its last turn.
 */
export function writeOncePerTurn(destination: DestinationStream): DestinationStream {
  let lines = ''
  const flush = () => {
    const text = lines
    lines = ''
    if (text !== '') destination.write(text)
  }
  process.on('exit', flush)
  return {
    write: (line) => {
      if (lines === '') setImmediate(flush)
      lines += line
    },
  }
}

/** The one standard output of the process, so that all loggers keep the order of their lines. */
const standardOutput = writeOncePerTurn(pino.destination({ fd: 1, sync: true }))

/** One JSON line per event, on standard output unless `destination` is given, with secrets taken out. */
export function createLogger(
  { level }: { readonly level: LogLevel },
  destination: DestinationStream = standardOutput,
): Logger {
  const options: LoggerOptions = {
    level,
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

/** pino's own `isoTime`, which writes the same text anew for each line; under load many lines share a millisecond. */
function createTimestamp(): () => string {
  let writtenAt = Number.NaN
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== writtenAt) {
      writtenAt = now
      text = `,"time":"${new Date(now).toISOString()}"`
    }
    return text
  }
}

/** A text in which every url is cut down to scheme and host. */
export function maskUrls(text: string): string {
  return text.replace(URL_IN_TEXT, '$1$2/***')
}

/**
 * An error as it may be logged. Only name, code, message and stack: clients hang requests, headers and whole
 * configurations on their errors, and their messages name full RPC urls.
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
