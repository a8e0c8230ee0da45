import type { Receipt, ReceiptAnswer } from '../../chains/answer.ts'
import type { Attempt } from '../../chains/attempt.ts'
import { movesNothing } from '../model/attempts.ts'
import { type FeePayment, traceStep } from '../model/observer.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { isFinal } from '../model/transitions.ts'
import { included, type Resolution, toFinal } from './resolution.ts'
import { describeInclusion } from './resolve.ts'
import { STUCK_AFTER_MS } from './stuck.ts'
import type { WatchRound } from './watch-round.ts'
import { writeResolutions } from './write-resolutions.ts'

/**
 * Sets the final status of transactions whose block is final, unless the endpoints disagree about the result.
 * Call it with at most `GROUP_SIZE` of them: slow endpoints then answer a part of what an outage left in one
 * round, and what is written in one round is not requested in the next.
 */
export function finalise(round: WatchRound, items: readonly TransactionWithAttempts[]): Promise<void> {
  const step = { name: 'confirm', transactions: items.map(({ transaction }) => transaction) } as const
  return traceStep(round.context, step, () => finaliseGroup(round, items))
}

async function finaliseGroup(round: WatchRound, items: readonly TransactionWithAttempts[]): Promise<void> {
  const claims = items.flatMap((item) => claimOf(item) ?? [])
  const opinions = await askSecondOpinions(round, claims)
  const resolutions = await Promise.all(
    items.map((item) => resolveFinal(round, item, opinions.get(item.transaction.id) ?? { kind: 'agreed' })),
  )
  const written = await writeResolutions(
    round,
    resolutions.filter((resolution) => resolution !== undefined),
  )
  reportFees(round, items, written)
}

/**
 * Reports the fees of the transactions that have just become final. The fee of an inclusion that another
 * party paid is not the relayer's.
 */
function reportFees(
  { context: { observer }, chain }: WatchRound,
  items: readonly TransactionWithAttempts[],
  written: readonly Transaction[],
): void {
  if (observer === undefined) return
  const attempts = new Map(items.map((item) => [item.transaction.id, item.attempts]))
  const payments = written.flatMap((transaction): FeePayment[] => {
    const { id, from, status, currentAttempt } = transaction
    const attempt = attempts.get(id)?.find(({ number }) => number === currentAttempt)
    const fee = isFinal(status) && attempt !== undefined ? chain.paidFee(attempt, from) : undefined
    return fee === undefined ? [] : [{ transaction, fee, unit: chain.unit }]
  })
  if (payments.length > 0) observer.paid(payments)
}

/** Without a recorded attempt or block there is nothing that another endpoint could contradict. */
function claimOf({ transaction, attempts }: TransactionWithAttempts): ReceiptClaim | undefined {
  const attempt = attempts.find(({ number }) => number === transaction.currentAttempt)
  if (attempt === undefined || transaction.block === undefined) return undefined
  return {
    transactionId: transaction.id,
    hash: includedHash(attempt),
    blockHash: transaction.block.hash,
    success: attempt.outcome !== 'reverted',
    givesBack: movesNothing(attempts, { number: attempt.number, isReverted: attempt.outcome === 'reverted' }),
  }
}

async function resolveFinal(
  round: WatchRound,
  item: TransactionWithAttempts,
  opinion: SecondOpinion,
): Promise<Resolution | undefined> {
  const { transaction, attempts } = item
  if (opinion.kind === 'agreed') {
    round.memory.disputed.delete(transaction.id)
    const now = round.context.clock.now()
    round.memory.finalSince = Math.min(round.memory.finalSince, now)
    return toFinal(item, new Date(now))
  }
  round.open = true
  if (opinion.kind !== 'contradicted') return dispute(round, item, opinion.kind)
  const attempt = attempts.find(({ number }) => number === transaction.currentAttempt)
  if (attempt === undefined) return undefined
  const { receipt } = opinion
  // The next round asks again, and finalises what the endpoints then say.
  return included(item, await describeInclusion(round, transaction, { attempt, receipt }))
}

/**
 * A replica may be late, so silence is reported only after this time, in ms. A contradiction is reported
 * immediately.
 */
const UNHEARD_MS = STUCK_AFTER_MS

const DISPUTES = {
  tied: 'the endpoints disagree about the result of a transaction; it stays mined until they agree: compare their receipts, and remove the endpoint that is wrong',
  unheard:
    'the endpoints do not confirm the result of a transaction; it stays mined until they do: replace the endpoint that does not answer, or does not have its receipt',
}

/** Reports once that the endpoints disagree about a result. The record is unchanged. */
function dispute(
  { context: { log, clock }, memory: { disputed } }: WatchRound,
  item: TransactionWithAttempts,
  kind: keyof typeof DISPUTES,
): Resolution | undefined {
  const { id, relayerId, block } = item.transaction
  const now = clock.monotonic()
  const { since, told } = disputed.get(id) ?? { since: now, told: false }
  const isDue = !told && now - since >= (kind === 'tied' ? 0 : UNHEARD_MS)
  disputed.set(id, { since, told: told || isDue })
  if (!isDue) return undefined
  log.warn({ transaction: id, relayer: relayerId, block: String(block?.number) }, DISPUTES[kind])
  return { transaction: item.transaction, outcomes: [], incident: 'transaction_undecided' }
}

/** The receipt that a record was written from. */
export interface ReceiptClaim {
  readonly transactionId: string
  /** The hash under which the chain includes the attempt. */
  readonly hash: string
  readonly blockHash: string
  readonly success: boolean
  /**
   * The claim says that the content of the transaction was not executed: believing it pays again, and
   * releases budgets.
   */
  readonly givesBack: boolean
}

/**
 * The endpoints together about a claim. `agreed`: enough of them say the same, and none that counts says the
 * opposite · `contradicted`: most endpoints say the opposite, with this receipt · `tied`: they contradict
 * each other · `unheard`: the claim needs every endpoint, and one has no receipt or does not answer.
 */
type SecondOpinion =
  | { readonly kind: 'agreed' }
  | { readonly kind: 'contradicted'; readonly receipt: Receipt }
  | { readonly kind: 'tied' | 'unheard' }

/**
 * Returns the hash under which the chain includes an attempt: its own, or that of the bytes of a third party.
 */
function includedHash({ signed, result }: Pick<Attempt, 'signed' | 'result'>): string {
  return result?.appliedHash ?? signed.hash
}

/**
 * Reads the receipts of these claims from every endpoint, because one endpoint must not decide permanently
 * whether a payment succeeded: a caller pays again what "failed". Networks with one endpoint have no second
 * opinion, and it counts, unless a caller chose it. By transaction id.
 */
export async function askSecondOpinions(
  { chain, head }: Pick<WatchRound, 'chain' | 'head'>,
  claims: readonly ReceiptClaim[],
): Promise<ReadonlyMap<string, SecondOpinion>> {
  if (claims.length === 0 || (chain.trustedChain === undefined && chain.endpoints().length < 2))
    return new Map(claims.map(({ transactionId }) => [transactionId, { kind: 'agreed' }]))
  const hashes = claims.map(({ hash }) => hash)
  const asked = [chain, ...(chain.trustedChain ? [chain.trustedChain] : [])].map((one) =>
    one.receiptsEverywhere(hashes, { asOf: head.number }),
  )
  const endpoints = (await Promise.all(asked)).flat()
  const isHeard = chain.trustedChain === undefined || endpoints.length > chain.endpoints().length
  return new Map(
    claims.map((claim, index) => [
      claim.transactionId,
      weigh(
        claim,
        // A network without an endpoint of the operator never releases anything.
        [...endpoints.map((answers) => answers[index] ?? UNKNOWN), ...(isHeard ? [] : [UNKNOWN])],
      ),
    ]),
  )
}

const UNKNOWN: ReceiptAnswer = { kind: 'unknown' }

/**
 * Weighs the answers of all endpoints. A claim that something was executed is valid unless others contradict
 * it: only a receipt in the block of the claim counts, because an endpoint that is behind, or has pruned the
 * receipt, has no opinion about the result. A claim that releases something needs every endpoint: silence is
 * not assent, and an endpoint without the receipt may be right. Pure.
 */
export function weigh(claim: ReceiptClaim, answers: readonly ReceiptAnswer[]): SecondOpinion {
  const receipts = answers.flatMap((answer) =>
    answer.kind === 'included' && answer.receipt.blockHash === claim.blockHash ? [answer.receipt] : [],
  )
  const [opposite, same] = [
    receipts.filter(({ success }) => success !== claim.success),
    receipts.filter(({ success }) => success === claim.success),
  ]
  const [receipt] = opposite
  if (receipt !== undefined && opposite.length > same.length) return { kind: 'contradicted', receipt }
  if (receipt !== undefined && (claim.givesBack || opposite.length === same.length)) return { kind: 'tied' }
  if (claim.givesBack) return { kind: same.length === answers.length ? 'agreed' : 'unheard' }
  return { kind: answers.every(({ kind }) => kind === 'unknown') ? 'unheard' : 'agreed' }
}
