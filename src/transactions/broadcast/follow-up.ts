import type { BroadcastResult } from '../../chains/answer.ts'
import type { Attempt, Draft } from '../../chains/attempt.ts'
import { openAttempts } from '../model/attempts.ts'
import { isGasNamed, isPriceNamed } from '../model/due.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { fallsBack, isComparison, isPreparedAgain } from './unclear.ts'

/**
 * Nodes may refuse this many attempts of one nonce before the service stops trying other gas limits. Each
 * attempt has a new estimate, so further refusals have another cause.
 */
const MAX_REFUSED = 3

/**
 * Time in ms for which bytes at a price that the caller named are offered to nodes that do not take it, while
 * others wait behind them. A pool that is full for a moment, and a base fee that jumps, come down within it;
 * a longer time keeps the others waiting.
 */
const OWN_PRICE_MS = 120_000

/** An attempt that was broadcast, the answer of the node, and the rules of its chain. */
export interface BroadcastCase {
  readonly item: TransactionWithAttempts
  readonly attempt: Attempt
  readonly result: BroadcastResult
  readonly now: Date
  readonly costOf: (draft: Draft) => bigint
  /**
   * Time in ms that the attempt may wait in a mempool before its fee is raised; undefined if its fee is never
   * raised.
   */
  readonly raiseAfterMs?: number | undefined
  /**
   * True when signed bytes expire on this chain. Then underpriced content is signed again, with the same
   * nonce.
   */
  readonly expires?: boolean
  /** True when a third party signed the content. Then the service cannot replace it with its own content. */
  readonly externallySigned?: boolean
  /** True when the chain has nonces, so that a no-op can use the nonce of the transaction. */
  readonly numbered?: boolean
  /** True when other transactions of the account are open. */
  readonly holdsOthers?: boolean
  /** Time in ms until accepted bytes are broadcast again; 30 s if absent. */
  readonly rebroadcastAfterMs?: number | undefined
}

/** Every answer but `accepted`. */
export type Unaccepted = Exclude<BroadcastResult, { kind: 'accepted' }>

/**
 * The next step when a node did not accept the bytes. `retry`, `retry_later`: broadcast the same bytes again · `give_up`: sign nothing in
 * their place · `reprice`: sign the same content with the same nonce at another price · `reestimate`: the same with another gas limit ·
 * `prepare_again`: the same with another price and gas limit · `fall_back`: an earlier attempt counts again · `close`: a no-op uses the
 * nonce · `end_comparison`: nodes did not take the no-op either, so the content counts again.
 */
export type FollowUp =
  | 'retry'
  | 'retry_later'
  | 'give_up'
  | 'reprice'
  | 'reestimate'
  | 'prepare_again'
  | 'fall_back'
  | 'close'
  | 'end_comparison'

/** Decides the next step from the answer of the node. Pure. */
export function chooseFollowUp(attempted: BroadcastCase, result: Unaccepted): FollowUp {
  const { kind } = result
  const { item, attempt, expires = false, externallySigned = false, numbered = true } = attempted
  if (kind === 'nonce_used' || kind === 'unknown' || kind === 'withheld') return 'retry'
  if (isComparison(item.transaction, attempt)) return 'end_comparison'
  if (kind === 'later') return 'retry'
  if (kind === 'unclear') return followUnclear(attempted)
  const isInDoubt = 'unanswered' in result && result.unanswered === true
  // An endpoint that did not answer may have the bytes. They expire, so the question does not stay open.
  if (kind === 'refused' && !numbered) return isInDoubt ? 'retry' : 'give_up'
  if (kind === 'refused' && externallySigned) return 'retry_later'
  // A node that accepted the attempt before may still have it in its mempool, so only the waiting time raises
  // the fee.
  if (isAboutPrice(kind) && attempt.broadcastAt !== undefined) return 'retry'
  if (earlierInPool(item, attempt) !== undefined) return isInDoubt ? 'retry' : 'fall_back'
  if (kind === 'refused') return 'close'
  if (kind === 'gas_limit') return isEstimateWorthwhile(item) ? 'reestimate' : 'close'
  if (isAboutPrice(kind)) {
    if (!isPriceNamed(item.transaction)) return 'reprice'
    return isInDoubt || !holdsUp(attempted) ? 'retry' : 'close'
  }
  // On a chain with mempools, a pool holds an unknown transaction with this nonce; the chain decides later.
  return expires ? 'reprice' : 'retry'
}

/** Returns true for a refusal of the price alone. */
export function isAboutPrice(kind: BroadcastResult['kind']): boolean {
  return kind === 'too_cheap' || kind === 'too_dear'
}

/** The service may not change the price, and no later nonce can be included before this one. */
function holdsUp({ attempt, now, holdsOthers = false, expires = false }: BroadcastCase): boolean {
  return !expires && holdsOthers && now.getTime() - attempt.signedAt.getTime() >= OWN_PRICE_MS
}

/**
 * On chains where bytes expire, the expiry ends what nodes refuse, and content of a third party cannot be
 * signed in another way.
 */
function followUnclear({ item, attempt, expires, externallySigned }: BroadcastCase): FollowUp {
  if (expires || externallySigned) return 'retry'
  const wasTaken = openAttempts(item.attempts).some(
    ({ number, broadcastAt }) => number < attempt.number && broadcastAt !== undefined,
  )
  if (attempt.broadcastAt === undefined && wasTaken) return fallsBack(attempt) ? 'fall_back' : 'retry'
  return isPreparedAgain(item) ? 'prepare_again' : 'retry'
}

/** Only a request with an estimated gas limit qualifies: a no-op is estimated again anyway. */
function isEstimateWorthwhile({ transaction, attempts }: TransactionWithAttempts): boolean {
  const refused = attempts.filter(({ outcome }) => outcome === 'refused').length
  return transaction.purpose === 'request' && !isGasNamed(transaction) && refused < MAX_REFUSED
}

/** The newest earlier attempt that may be in a mempool. */
export function earlierInPool({ attempts }: TransactionWithAttempts, attempt: Attempt): Attempt | undefined {
  return openAttempts(attempts).findLast((other) => other.number < attempt.number)
}
