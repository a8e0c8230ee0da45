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
  /** The claim says that the content of the transaction was not executed: whoever believes it pays again, and budgets are given back. */
  readonly givesBack: boolean
}

/**
 * The endpoints together about a claim. `agreed`: enough of them say the same, and nobody who counts says the opposite · `contradicted`: most
 * endpoints say the opposite, with this receipt · `tied`: they contradict each other · `unheard`: the claim needs the word of every endpoint,
 * and one has no receipt or does not answer.
 */
export type SecondOpinion =
  | { readonly kind: 'agreed' }
  | { readonly kind: 'contradicted'; readonly receipt: Receipt }
  | { readonly kind: 'tied' | 'unheard' }

/** Gives the hash under which the chain includes an attempt: its own, or that of the bytes of a third party. */
export function includedHash({ signed, result }: Pick<Attempt, 'signed' | 'result'>): string {
  return result?.appliedHash ?? signed.hash
}

/**
 * Asks every endpoint for the receipts of these claims, because the answer of one endpoint must not decide for good whether a payment
 * succeeded: a caller pays again what "failed". Networks with one endpoint have no second opinion, and its word counts, unless a caller chose
 * it. By transaction id.
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
        // A network without an endpoint of the operator has nobody who could give anything back.
        [...endpoints.map((answers) => answers[index] ?? UNKNOWN), ...(isHeard ? [] : [UNKNOWN])],
      ),
    ]),
  )
}

const UNKNOWN: ReceiptAnswer = { kind: 'unknown' }

/**
 * Weighs the answers of all endpoints. A claim that something was executed stands unless others contradict it: only a receipt in the block of
 * the claim counts, because an endpoint that is behind, or has pruned the receipt, has no opinion about the result. A claim that gives something
 * back needs every endpoint: silence is no assent, and an endpoint without the receipt may hold the truth. Pure.
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
