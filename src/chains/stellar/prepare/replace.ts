import { larger } from '../../../lib/bigint.ts'
import type { Answer, Refusal } from '../../answer.ts'
import type { ExternalNonce, SetupRequired } from '../../chain.ts'
import type { StellarDraft, StellarRequest } from '../content.ts'
import { maxTimeOf, openEnvelope } from '../model/envelope.ts'
import { underlying } from '../model/strkey.ts'
import type { StellarAccount, StellarAttempt, StellarPrepared } from '../types.ts'
import { budgetOf, decideBid, openOf, replacementFloor, underpriced } from './fees.ts'
import {
  type Content,
  logsOf,
  type PrepareContext,
  prepareContent,
  prepareDraft,
  wishFor,
} from './prepare.ts'

/** Returns the source and sequence number of externally signed content. */
export function externalNonceOf({ feeBump, transactionXdr }: StellarRequest): ExternalNonce | undefined {
  if (feeBump !== true || transactionXdr === undefined) return undefined
  const { tx } = openEnvelope(transactionXdr)
  return { address: underlying(tx.sourceAccount), nonce: tx.seqNum }
}

/**
 * Returns the time after which the caller no longer wants the transaction: its own limit or that of its prebuilt transaction, whichever is
 * earlier.
 */
export function endsAt({ validUntil, transactionXdr }: StellarRequest): Date | undefined {
  const maxTime = transactionXdr === undefined ? undefined : maxTimeOf(openEnvelope(transactionXdr).tx)
  if (maxTime === undefined) return validUntil
  const own = new Date(Number(maxTime) * 1_000)
  return validUntil !== undefined && validUntil < own ? validUntil : own
}

/**
 * Prepares a draft in place of every attempt that a node may hold: inside a fee bump, at ten times the highest rate among them
 * (stellar-core `TransactionQueue::canAdd`, `canReplaceByFee`). When no node holds one any more, it prepares a new draft like the first.
 */
export async function prepareReplacement(
  context: PrepareContext,
  { request, attempts, account }: Replacement,
): Promise<Answer<StellarPrepared> | SetupRequired<StellarRequest>> {
  const floor = replacementFloor(attempts)
  if (floor === undefined) return prepareDraft(context, request, account)
  const refusal = unsuitable(request, attempts, account)
  if (refusal) return { kind: 'refused', refusal }
  const market = await context.market()
  if (market.kind !== 'ok') return market
  const content = await prepareContent(context, {
    request,
    account,
    closeTime: market.value.closeTime,
  })
  if (content.kind !== 'ok') return content
  const maxFee = budgetOf(request, account)
  return raised(content.value, { market: market.value, floor, maxFee })
}

interface Replacement {
  readonly request: StellarRequest
  readonly attempts: readonly StellarAttempt[]
  readonly account: StellarAccount
}

/** Prepares the content of the last attempt with a bid that the network accepts now, within the budget of that attempt. */
export async function prepareSpeedUp(
  context: PrepareContext,
  attempts: readonly StellarAttempt[],
): Promise<Answer<StellarPrepared>> {
  const last = attempts.at(-1)
  if (last === undefined) return { kind: 'unknown', detail: 'there is no attempt to raise' }
  const market = await context.market()
  if (market.kind !== 'ok') return market
  const { feePerOperation, bumped, maxFee, ...content } = last.draft
  const queued = replacementFloor(attempts)
  // A node refused the bid while the queue holds no attempt: the queue is full and demands more than the ledgers charged, so the bid
  // doubles.
  const floor = queued ?? feePerOperation * 2n
  const answer = raised(content, { market: market.value, floor, maxFee })
  if (answer.kind !== 'ok') return answer
  const draft = { ...answer.value.draft, bumped: bumped || queued !== undefined }
  return { kind: 'ok', value: { ...answer.value, draft } }
}

interface Raise {
  readonly market: Parameters<typeof wishFor>[1]
  readonly floor: bigint
  readonly maxFee: bigint
}

function raised(content: Content, { market, floor, maxFee }: Raise): Answer<StellarPrepared> {
  const wish = wishFor(content, market, maxFee)
  const bid = decideBid({ ...wish, least: larger(wish.least, floor) })
  if (bid.kind === 'short') return { kind: 'refused', refusal: underpriced(bid.needed, maxFee) }
  const draft: StellarDraft = { ...content, feePerOperation: bid.feePerOperation, bumped: true, maxFee }
  const log = `The bid is now ${bid.feePerOperation} stroops for each operation; a node asks for at least ${floor}.`
  return { kind: 'ok', value: { draft, logs: [log, ...logsOf(bid)] } }
}

/**
 * The sequence number stays, so the content must be signed for it: the relayer signs its own content for its own account, externally signed
 * content keeps its number. Only with the same number do both exclude each other.
 */
function unsuitable(
  request: StellarRequest,
  attempts: readonly StellarAttempt[],
  { address }: StellarAccount,
): Refusal | undefined {
  const newest = openOf(attempts).at(-1)
  const externalNonce = externalNonceOf(request)
  if (newest === undefined) return undefined
  if (externalNonce !== undefined) {
    return externalNonce.address === newest.sourceAccount && externalNonce.nonce === newest.nonce
      ? undefined
      : notSupported(
          `transaction_xdr: source ${newest.sourceAccount} with the sequence number ${newest.nonce} is expected.`,
        )
  }
  // The service has the keys of channel accounts, and not of other accounts.
  return newest.draft.externallySigned && newest.sourceAccount !== address
    ? notSupported(
        `transaction_xdr: the sequence number belongs to ${newest.sourceAccount}, so only a transaction signed by it can replace this one.`,
      )
    : undefined
}

function notSupported(detail: string): Refusal {
  return { code: 'not_supported', detail }
}
