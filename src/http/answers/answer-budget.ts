import { AppError } from '../../errors.ts'
import { limitConcurrency } from '../../lib/concurrency/limit-concurrency.ts'
import { type ByteBudget, createByteBudget } from '../../lib/http/byte-budget.ts'
import type { HttpContext } from '../state.ts'
import { sendFailure } from './error-boundary.ts'
import type { FinishingStep } from './send.ts'

/**
 * The response bytes that one caller may leave unread, for reads. The service keeps a response until the
 * connection has taken it, so less would refuse readers of large pages that read promptly, and more would let
 * few keys fill the memory.
 */
export const UNREAD_BYTES = 32 * 1024 * 1024

/**
 * Requests that change something are refused at this multiple of these bytes, so that a stopped reader does
 * not keep the same API key from sending.
 */
const MARGIN_OF_CHANGES = 2

/**
 * The first bytes of each answer, which do not count: large answers must not displace the many small ones.
 */
const FREE_BYTES = 16 * 1024

/**
 * The lists that are read at the same time for one caller; further ones wait. A list of large transactions
 * takes some 100 MB while it is built, which is unknown in advance. More would let one key fill the memory
 * with responses that are then refused.
 */
const LISTS_AT_ONCE = 4

/** A reader that reads at all has taken its answers by then. */
const RETRY_AFTER_SECONDS = 1

/**
 * Counts the bytes of answers that callers have not read yet. A caller is an API key, or the address of a
 * peer without one.
 */
export interface AnswerBudget {
  /**
   * Refuses a request before anything is done for it: one for a list also while the last answer had no room
   * and nothing was read since.
   * @throws AppError `rate_limited` if the caller leaves too much unread
   */
  admit(caller: string, kind: 'list' | 'read' | 'change'): void
  /** Runs the making of a list when it is its turn among the lists of the caller. */
  make<T>(caller: string, task: () => Promise<T>): Promise<T>
  /** Opens the share of one answer. */
  open(caller: string): AnswerShare
  /** The bytes that the caller has not read. */
  unread(caller: string): number
}

/** The part of the budget of a caller that one answer holds. A closed share takes nothing more. */
export interface AnswerShare {
  /**
   * Takes bytes and returns true, unless the caller has too few left. A single response may have any size.
   */
  take(bytes: number): boolean
  /** Takes bytes without a limit: what was done can no longer be refused. */
  hold(bytes: number): void
  /** Takes bytes as soon as enough are free. Returns false if the share is closed first. */
  wait(bytes: number): Promise<boolean>
  /** Releases the bytes: the connection has taken them. */
  release(): void
  /** Releases the bytes and ends the share: the connection is closed. */
  close(): void
}

interface Caller {
  readonly budget: ByteBudget
  shares: number
  /** The last answer had no room, and no bytes were given back since. */
  isFull: boolean
  readonly makeInTurn: ReturnType<typeof limitConcurrency>
  /** Wakes those that wait for bytes. */
  readonly waiting: Set<() => void>
}

/** Creates the budgets of all callers. */
export function createAnswerBudget(bytes = UNREAD_BYTES): AnswerBudget {
  const callers = new Map<string, Caller>()

  function join(name: string): Caller {
    const known = callers.get(name)
    const caller = known ?? {
      budget: createByteBudget({ bytes, freeBytes: FREE_BYTES }),
      shares: 0,
      isFull: false,
      makeInTurn: limitConcurrency(LISTS_AT_ONCE),
      waiting: new Set<() => void>(),
    }
    caller.shares += 1
    callers.set(name, caller)
    return caller
  }

  function leave(name: string, caller: Caller): void {
    caller.shares -= 1
    if (caller.shares === 0) callers.delete(name)
  }

  return {
    unread: (name) => callers.get(name)?.budget.used ?? 0,
    admit: (name, kind) => {
      const caller = callers.get(name)
      if (caller === undefined) return
      const most = kind === 'change' ? MARGIN_OF_CHANGES * bytes : bytes
      if (caller.budget.used >= most || (kind === 'list' && caller.isFull)) throw tooMuchUnread()
    },
    make: async (name, task) => {
      const caller = join(name)
      try {
        return await caller.makeInTurn(task)
      } finally {
        leave(name, caller)
      }
    },
    open: (name) => {
      const caller = join(name)
      return openShare(caller, () => leave(name, caller))
    },
  }
}

function openShare(caller: Caller, leave: () => void): AnswerShare {
  const { budget, waiting } = caller
  const share = budget.open()
  let isOpen = true
  let bytesInUse = 0
  const hold = (bytes: number) => {
    if (!isOpen) return
    share.hold(bytes)
    bytesInUse += bytes
  }
  const tryToTake = (bytes: number) => {
    if (!budget.fits(bytes) && budget.used > 0) return false
    hold(bytes)
    return true
  }
  const release = () => {
    if (bytesInUse === 0) return
    share.close()
    bytesInUse = 0
    caller.isFull = false
    for (const wake of waiting) wake()
  }
  return {
    take: (bytes) => {
      const isTaken = tryToTake(bytes)
      if (!isTaken) caller.isFull = true
      return isTaken
    },
    hold,
    release,
    wait: async (bytes) => {
      while (isOpen) {
        if (tryToTake(bytes)) return true
        const { promise, resolve } = Promise.withResolvers<void>()
        waiting.add(resolve)
        await promise
        waiting.delete(resolve)
      }
      return false
    },
    close: () => {
      if (!isOpen) return
      isOpen = false
      release()
      for (const wake of waiting) wake()
      leave()
    },
  }
}

/**
 * Counts each response from its creation until the connection has taken it. A read whose response is too much
 * for its caller gets 429 instead, which frees the memory.
 */
export function countAnswer(budget: AnswerBudget): FinishingStep {
  return function countAnswer(context) {
    const { body, res } = context
    // A text this short is not counted; pages are shared by all their readers, and a stream counts itself.
    if (typeof body !== 'string' || body.length * 3 <= FREE_BYTES || context.method === 'HEAD') return
    // The reader has gone.
    if (res.closed) return
    const share = budget.open(callerOf(context))
    res.once('close', share.close)
    const bytes = Buffer.byteLength(body)
    if (!isRepeatable(context)) share.hold(bytes)
    else if (!share.take(bytes)) sendFailure(context, tooMuchUnread())
  }
}

/** Names whose answers count together. */
export function callerOf({ state, req }: HttpContext): string {
  return state.caller ?? `connection ${req.socket.remoteAddress}`
}

/** Returns whether the request only reads, so that it may be refused even after it was executed. */
function isRepeatable({ method, state: { operation, repeatable } }: HttpContext): boolean {
  return operation?.rateLimited === true && (repeatable ?? method === 'GET')
}

/** Makes the failure of a list whose turn did not come in time. */
export function tooManyLists(): AppError {
  return new AppError('rate_limited', 'Too many lists are read at the same time. Request fewer at a time.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

function tooMuchUnread(): AppError {
  return new AppError(
    'rate_limited',
    'Too many bytes of earlier responses are unread. Read them, or close their connections, and try again.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )
}
