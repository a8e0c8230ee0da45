import type { ContentReader } from '../chains/capabilities.ts'
import type { AssetAmount, Effects } from '../chains/effects.ts'
import { contentKind, hasLaterContent, isNoop } from '../transactions/model/attempts.ts'
import type { TransactionWithAttempts } from '../transactions/model/transaction.ts'

/** The amounts that a transaction moved, and its fee. */
interface Spending {
  /** Each asset at most once. */
  readonly amounts: readonly AssetAmount[]
  /** In the smallest unit of the native currency; undefined when no node told it. */
  readonly fee: bigint | undefined
  /** False when it can have moved more than its bytes tell. */
  readonly isComplete: boolean
}

const NOTHING_MOVED = { amounts: [], isComplete: true }

/** Gives what the chain took for the included attempt; undefined when it includes none. Pure. */
export function spendingOf(item: TransactionWithAttempts, reader: ContentReader): Spending | undefined {
  const { transaction, attempts } = item
  const included = attempts.find(({ number }) => number === transaction.currentAttempt)
  if (included?.outcome !== 'mined' && included?.outcome !== 'reverted') return undefined
  const paid = reader.paidFee(included, transaction.from)
  // A known fee that this account did not pay is none of its costs.
  const fee = paid ?? (included.result?.feeCharged === undefined ? undefined : 0n)
  const kind = contentKind(attempts, included.number)
  const movesNothing = included.outcome === 'reverted' || kind === undefined || isNoop(kind)
  if (movesNothing) return { ...NOTHING_MOVED, fee }
  // The record has only the newest content.
  if (hasLaterContent(item, included.number)) return { amounts: [], isComplete: false, fee }
  const effects = reader.effects(transaction.request, transaction.from)
  return { amounts: movedBy(effects), isComplete: effects.unread.length === 0, fee }
}

/** An allowance is taken later, by somebody else, if ever. */
function movedBy({ amounts, allowances }: Effects): AssetAmount[] {
  return amounts.flatMap(({ asset, value }) => {
    const allowed = allowances.find((allowance) => allowance.asset === asset)?.value ?? 0n
    return value > allowed ? [{ asset, value: value - allowed }] : []
  })
}
