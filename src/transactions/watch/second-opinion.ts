import type { Receipt, ReceiptAnswer } from '../../chains/answer.ts'
import type { Attempt } from '../../chains/attempt.ts'
import type { WatchRound } from './watch-round.ts'

/** The receipt that a record was written from. */
export interface ReceiptClaim {
  readonly transactionId: string
  /** The hash under which the chain includes the attempt. */
  readonly hash: string
  readonly blockHash: string
  readonly success: boolean
}

/**
 * The endpoints together about a claim. `agreed`: nobody contradicts it, or most endpoints say the same · `contradicted`: most endpoints
 * say the opposite, with this receipt · `tied`: as many say the one as the other.
 */
export type SecondOpinion =
  | { readonly kind: 'agreed' }
  | { readonly kind: 'contradicted'; readonly receipt: Receipt }
  | { readonly kind: 'tied' }
  | { readonly kind: 'unanswered' }

/** Gives the hash under which the chain includes an attempt: its own, or that of the bytes of a third party. */
export function includedHash({ signed, result }: Pick<Attempt, 'signed' | 'result'>): string {
  return result?.appliedHash ?? signed.hash
}

/**
 * Asks every endpoint for the receipts of these claims, because the answer of one endpoint must not decide for good whether a payment
 * succeeded: a caller pays again what "failed". Networks with one endpoint have no second opinion, and its word counts. By transaction id.
 */
export async function askSecondOpinions(
  { chain, head }: Pick<WatchRound, 'chain' | 'head'>,
  claims: readonly ReceiptClaim[],
): Promise<ReadonlyMap<string, SecondOpinion>> {
  if (claims.length === 0 || chain.endpoints().length < 2)
    return new Map(claims.map(({ transactionId }) => [transactionId, { kind: 'agreed' }]))
  const endpoints = await chain.receiptsEverywhere(
    claims.map(({ hash }) => hash),
    { asOf: head.number },
  )
  return new Map(
    claims.map((claim, index) => [
      claim.transactionId,
      weigh(
        claim,
        endpoints.flatMap((answers) => answers[index] ?? []),
      ),
    ]),
  )
}

/**
 * Weighs the answers of all endpoints. Only a receipt in the block of the claim counts: an endpoint that is behind, or has pruned the
 * receipt, has no opinion about the result. Pure.
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
  if (receipt === undefined)
    return { kind: answers.every(({ kind }) => kind === 'unknown') ? 'unanswered' : 'agreed' }
  if (opposite.length === same.length) return { kind: 'tied' }
  return opposite.length > same.length ? { kind: 'contradicted', receipt } : { kind: 'agreed' }
}
