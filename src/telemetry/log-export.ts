import { type Attributes, type Logger, SeverityNumber } from '@opentelemetry/api'
import type { ActiveContext } from './active-context.ts'

const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
}

/** Creates a function that exports a line of the log. The line was written without secrets, so the record has none either. */
export function createEntryExport(logger: Logger, active: ActiveContext): (line: string) => void {
  return (line) => {
    // The trace ids of the line are fields of the record, which come with the context.
    const { level, time, msg, trace_id, span_id, pid, hostname, err, ...fields } = JSON.parse(line) as Line
    logger.emit({
      timestamp: new Date(time),
      severityNumber: SEVERITIES[level] ?? SeverityNumber.UNSPECIFIED,
      severityText: level,
      body: msg ?? '',
      attributes: { ...toAttributes(fields), ...errorAttributes(err) },
      context: active.get(),
    })
  }
}

interface Line extends Readonly<Record<string, unknown>> {
  readonly level: string
  readonly time: string
  readonly msg?: string
}

/** Numbers, texts and booleans stay; everything else is written as JSON. */
function toAttributes(fields: Readonly<Record<string, unknown>>): Attributes {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
        ? value
        : JSON.stringify(value),
    ]),
  )
}

function errorAttributes(error: unknown): Attributes {
  if (typeof error !== 'object' || error === null) return error === undefined ? {} : { error: String(error) }
  const { type, message, stack } = error as Readonly<Record<string, unknown>>
  return toAttributes({ 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack })
}
