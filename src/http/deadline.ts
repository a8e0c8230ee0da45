import type { Principal } from '../access/principal.ts'
import type { TicketFilter } from '../contract/operations.ts'
import { AppError } from '../errors.ts'
import type { RequestContext } from './handler.ts'
import type { HttpContext } from './state.ts'

/** The time limit of one request. */
export interface Deadline {
  /**
   * Aborts when the time is up, the caller has disconnected, or the answer was sent. It is made when it is
   * first read.
   */
  readonly signal: AbortSignal
  /** True when the signal has aborted, or would have. It makes no signal. */
  readonly isOver: boolean
  /** Returns the rest of the time in ms. */
  timeLeft(): number
  /**
   * Waits for the work, or fails with `late()` when the time is up first. The work continues; only the signal
   * tells it to stop.
   */
  race<T>(work: Promise<T>, late: () => AppError): Promise<T>
  /** Replaces the rest of the time by this one, in ms. */
  allow(ms: number): void
  /** Ends the time limit. From then on the signal aborts only at the end of the answer. */
  met(): void
}

/** A connection outlives the time limit of its request by this time in ms. */
const GRACE_MS = 5_000

/** Starts the time limit of a request. It ends with the connection or the answer. */
export function startDeadline({ res }: HttpContext, ms: number): Deadline {
  const deadline = new RequestDeadline(ms, (longer) => void res.setTimeout(longer))
  res.on('close', () => deadline.close())
  return deadline
}

/**
 * A class, because each evaluation of an object literal with a getter creates a new hidden class. That
 * outlives the request until the next full collection, with everything that the getter reaches, and such
 * collections took a tenth of the time.
 */
class RequestDeadline implements Deadline {
  #timer: NodeJS.Timeout
  #endsAt: number
  readonly #keepOpen: (ms: number) => void
  #late = handlerTooSlow
  #expired = false
  #isOver = false
  /** Fails the present race. */
  #fail: ((reason: AppError) => void) | undefined
  /**
   * A controller and its abort cost as much as a tenth of a small request, and few handlers read the signal.
   */
  #controller: AbortController | undefined

  constructor(ms: number, keepOpen: (ms: number) => void) {
    this.#timer = setTimeout(() => this.#expire(), ms)
    this.#endsAt = performance.now() + ms
    this.#keepOpen = keepOpen
  }

  allow(ms: number): void {
    if (this.#expired || this.#isOver) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#expire(), ms)
    this.#endsAt = performance.now() + ms
    // The connection is silent for as long; Node.js would close it earlier.
    this.#keepOpen(ms + GRACE_MS)
  }

  timeLeft(): number {
    return Math.max(0, this.#endsAt - performance.now())
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isOver) this.#controller.abort()
    return this.#controller.signal
  }

  race<T>(work: Promise<T>, late: () => AppError): Promise<T> {
    this.#late = late
    return new Promise((resolve, reject) => {
      this.#fail = reject
      // The work is heard out even after its time, so that its failure is not an unhandled one.
      work.then(resolve, reject)
      if (this.#expired) reject(late())
    })
  }

  met(): void {
    clearTimeout(this.#timer)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#end()
  }

  #expire(): void {
    this.#expired = true
    // The rejection comes first, so that the caller learns of the time limit and not of the abort that
    // follows from it.
    this.#fail?.(this.#late())
    this.#end()
  }

  #end(): void {
    this.#isOver = true
    this.#controller?.abort()
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
    'The request was not finished in time. It may still take effect; check before you repeat it.',
  )
}

/** The facts of a request without those of its time limit. */
type Facts = Omit<RequestContext, keyof Timing>

type Timing = Pick<Deadline, 'signal' | 'timeLeft' | 'allow'>

/**
 * The facts about a request that its handler receives. A class, because the signal is made when it is first
 * read, and each evaluation of an object literal with a getter makes a hidden class, which keeps the whole
 * request in memory until the next full collection.
 */
export class HandlerContext implements RequestContext {
  readonly requestId: string
  readonly principal: Principal
  readonly actor: RequestContext['actor']
  readonly ticketFilter: TicketFilter | undefined
  readonly mediaType: string
  readonly countFurther: RequestContext['countFurther']
  readonly headers: RequestContext['headers']
  readonly bytes: RequestContext['bytes']
  readonly #deadline: Timing

  constructor(facts: Facts, deadline: Timing) {
    this.requestId = facts.requestId
    this.principal = facts.principal
    this.actor = facts.actor
    this.ticketFilter = facts.ticketFilter
    this.mediaType = facts.mediaType
    this.countFurther = facts.countFurther
    this.headers = facts.headers
    this.bytes = facts.bytes
    this.#deadline = deadline
  }

  get signal(): AbortSignal {
    return this.#deadline.signal
  }

  timeLeft(): number {
    return this.#deadline.timeLeft()
  }

  allow(ms: number): void {
    this.#deadline.allow(ms)
  }
}
