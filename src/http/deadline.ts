import { AppError } from '../errors.ts'
import type { HttpContext } from './state.ts'

/** The time that a request has. */
export interface Deadline {
  /** Aborted when the time is up or the caller has gone. */
  readonly signal: AbortSignal
  /** The result of `work`, or AppError when the time is up first. The work itself is only told by the signal. */
  race<T>(work: Promise<T>): Promise<T>
}

/** Starts the clock for a request. `arrived` tells whether the whole request is here, to know whose fault a delay is. */
export function startDeadline(context: HttpContext, ms: number, arrived: () => boolean): Deadline {
  const controller = new AbortController()
  const { promise: expired, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(arrived() ? tooLong() : tooSlow())
    controller.abort()
  }, ms)
  context.res.once('close', () => {
    clearTimeout(timer)
    if (!context.res.writableFinished) controller.abort()
  })
  return { signal: controller.signal, race: (work) => Promise.race([work, expired]) }
}

function tooSlow(): AppError {
  return new AppError('request_too_slow', 'The request did not arrive completely in time.')
}

function tooLong(): AppError {
  return new AppError(
    'request_timeout',
    'The request was not finished in time. It may still take effect; look before you repeat it.',
  )
}
