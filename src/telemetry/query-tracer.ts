import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { QueryObserver } from '../database/query-observer.ts'
import type { ActiveContext } from './active-context.ts'
import type { SpanSource } from './span-source.ts'

/** The characters of a statement that a span shows; the longest ones of the service have about 3,000. */
const MAX_SQL_LENGTH = 2_000

/** Creates the observer of statements, which reports a client span for each one within a sampled span. */
export function createQueryTracer(source: SpanSource, active: ActiveContext): QueryObserver {
  return {
    ended: ({ sql, ms, isFailure }) => {
      if (active.sampledSpan() === undefined) return
      const text = sql.trim()
      const operation = /^[a-z]+/i.exec(text)?.[0].toUpperCase() ?? 'QUERY'
      const end = Date.now()
      const span = source.tracer.startSpan(
        `SQL ${operation}`,
        {
          kind: SpanKind.CLIENT,
          startTime: end - ms,
          attributes: {
            'db.system.name': 'postgresql',
            'db.operation.name': operation,
            'db.query.text': text.slice(0, MAX_SQL_LENGTH),
          },
        },
        active.get(),
      )
      if (isFailure) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(end)
    },
  }
}
