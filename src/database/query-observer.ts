import type { LogConfig } from 'kysely'

/** Receives a report of each statement, in the asynchronous context of its caller. Must not throw. */
export interface QueryObserver {
  ended(query: {
    /** The text with placeholders, without the values of its parameters. */
    readonly sql: string
    readonly ms: number
    readonly isFailure: boolean
  }): void
}

/**
 * Returns the option of Kysely that reports to the observer; none without an observer, so that Kysely
 * measures nothing.
 */
export function reportQueries(observer: QueryObserver | undefined): { readonly log?: LogConfig } {
  if (observer === undefined) return {}
  return {
    log: ({ level, query, queryDurationMillis }) =>
      observer.ended({ sql: query.sql, ms: queryDurationMillis, isFailure: level === 'error' }),
  }
}
