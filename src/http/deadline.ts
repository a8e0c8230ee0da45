import { AppError } from '../errors.ts'
import type { HttpContext } from './state.ts'

/** The time limit of one request. */
export interface Deadline {
  /** Aborts when the time is up, the caller has disconnected, or the answer was sent. */
  readonly signal: AbortSignal
  /**
   * Waits for the work, or fails with `late()` when the time is up first. The work continues; only the signal tells it to
   * stop.
   */
  race<T>(work: Promise<T>, late: () => AppError): Promise<T>
  /** Ends the time limit. From then on the signal aborts only at the end of the answer. */
  met(): void
}

/** Starts the time limit of a request. It ends with the connection or the answer. */
export function startDeadline(context: HttpContext, ms: number): Deadline {
  const controller = new AbortController()
  const { promise: expired, reject } = Promise.withResolvers<never>()
  let failure = handlerTooSlow
  const timer = setTimeout(() => {
    // The rejection comes first, so that the caller learns of the time limit and not of the abort that follows from it.
    reject(failure())
    controller.abort()
  }, ms)
  context.res.once('close', () => {
    clearTimeout(timer)
    controller.abort()
  })
  return {
    signal: controller.signal,
    race: (work, late) => {
      failure = late
      return Promise.race([work, expired])
    },
    met: () => clearTimeout(timer),
  }
}

/** Makes the failure for a body that does not arrive in time: the caller causes the delay. */
export function bodyTooSlow(): AppError {
  return new AppError('request_too_slow', 'The request did not arrive completely in time.')
}

/** Makes the failure for a handler that does not finish in time: the service causes the delay. */
export function handlerTooSlow(): AppError {
  return new AppError(
    'request_timeout',
    'The request was not finished in time. It may still take effect; look before you repeat it.',
  )
}
