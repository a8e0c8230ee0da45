import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import type { LogLevel } from './config.ts'

export type { Logger }

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

/** One JSON line per event, on standard output unless `destination` is given, with secrets taken out. */
export function createLogger(
  { level }: { readonly level: LogLevel },
  destination: DestinationStream = pino.destination({ fd: 1, sync: true }),
): Logger {
  const options: LoggerOptions = {
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `req.headers.${field}`]),
      censor: HIDDEN,
    },
    serializers: { err: describeError },
  }
  return pino(options, destination)
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
