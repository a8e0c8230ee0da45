import { isTransient } from '../errors/is-transient.ts'
import { TransactionEndedError, WaitTimeoutError } from '../errors/transaction-errors.ts'
import type { Resources } from '../generated/operations.ts'
import type { Schemas } from '../operation-types.ts'
import { sleep } from '../transport/sleep.ts'
import { firstAttempt, includedAttempt, isNoOp } from './attempts.ts'
import type { Changes } from './changes.ts'

/** A transaction with its attempts. */
export type Transaction = Schemas['TransactionWithAttempts']

/** The statuses that one can wait for. A later one counts, too; `sent` means that it is signed, whatever became of it since. */
export type AwaitedStatus = 'sent' | 'submitted' | 'mined' | 'confirmed'

/** The statuses that one can wait for, or a condition for the transaction as it is now. */
export type AwaitedState = AwaitedStatus | ((transaction: Transaction) => boolean)

/** Settings of a wait. */
export interface WaitOptions {
  /** Ends the wait, which rejects with its reason. The transaction goes on. */
  readonly signal?: AbortSignal
  /** Default: none; the wait ends when the transaction does. */
  readonly timeoutMs?: number
}

/** The transaction to wait for, and its status. */
interface Waiting extends WaitOptions {
  readonly relayerId: string
  readonly id: string
  readonly status: AwaitedState
}

interface WaitDeps {
  readonly changes: Changes
  readonly read: Resources['transactions']['get']
}

/** The statuses in their order; those that are not here end a transaction otherwise. */
const ORDER: readonly Transaction['status'][] = ['pending', 'sent', 'submitted', 'mined', 'confirmed']

/** Without the event stream, the transaction is read after this time, in ms, and then after a longer time each. */
const FIRST_POLL_MS = 250
const LONGEST_POLL_MS = 5_000

/** The stream tells of every change; this is for one that is silently broken, in ms. */
const BACKSTOP_MS = 30_000

/**
 * Waits until a transaction has reached a status, or meets a condition. The event stream only says when to look: what counts is the transaction as the service shows
 * it, so a reorganisation that has taken the status back is seen, too. Failures that can pass, such as a restart of the service, do not end it.
 *
 * @throws TransactionEndedError if the transaction ended otherwise, WaitTimeoutError after `timeoutMs`, RelayerApiError when the service
 * refuses to show the transaction, and the reason of the signal when that aborts
 */
export async function waitFor(
  { changes, read }: WaitDeps,
  { relayerId, id, status, signal, timeoutMs }: Waiting,
): Promise<Transaction> {
  const ends = new AbortController()
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => ends.abort(TIMED_OUT), timeoutMs)
  const either = signal === undefined ? ends.signal : AbortSignal.any([signal, ends.signal])
  const watch = changes.watch(relayerId, id)
  let seen: Transaction | undefined
  try {
    for (let looks = 0; ; looks += 1) {
      const change = watch.next()
      seen = (await read(relayerId, id, { signal: either }).catch(orLookAgain)) ?? seen
      if (seen !== undefined && hasReached(seen, status)) return seen
      await sleep(watch.live ? BACKSTOP_MS : pollMs(looks), { signal: either, until: change })
    }
  } catch (error) {
    throw error === TIMED_OUT ? new WaitTimeoutError(id, timeoutMs ?? 0, seen) : error
  } finally {
    clearTimeout(timer)
    watch.close()
  }
}

const TIMED_OUT = Symbol('timed out')

/**
 * Decides whether a status counts: not when what was sent or included is a no-op in place of the request, or has reverted. Then the transaction
 * soon ends otherwise, or a reorganisation takes it back.
 *
 * @throws TransactionEndedError if it ended otherwise
 */
function hasReached(transaction: Transaction, awaited: AwaitedState): boolean {
  const { status, attempts = [] } = transaction
  const condition = awaited === 'sent' ? isSigned : awaited
  if (typeof condition === 'function' && condition(transaction)) return true
  const at = ORDER.indexOf(status)
  if (at === -1) throw new TransactionEndedError(transaction)
  if (typeof condition === 'function' || at < ORDER.indexOf(condition)) return false
  const decisive = includedAttempt(transaction) ?? attempts.at(-1)
  return decisive?.outcome !== 'reverted' && !(decisive && isNoOp(decisive))
}

function isSigned(transaction: Transaction): boolean {
  return firstAttempt(transaction) !== undefined
}

/** @throws the error, unless the service may answer later */
function orLookAgain(error: unknown): undefined {
  if (!isTransient(error)) throw error
}

function pollMs(looks: number): number {
  return Math.min(LONGEST_POLL_MS, FIRST_POLL_MS * 1.5 ** looks)
}
