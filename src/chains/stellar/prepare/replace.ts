import { larger } from '../../../lib/bigint.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { Answer, Refusal } from '../../answer.ts'
import type { AfterExpiry, SetupRequired } from '../../attempt.ts'
import type { ExternalNonce } from '../../capabilities.ts'
import type { LedgerSequence, StellarDraft, StellarRequest } from '../content.ts'
import { maxTimeOf, openEnvelope } from '../model/envelope.ts'
import { underlying } from '../model/strkey.ts'
import type { StellarAccount, StellarAttempt, StellarPrepared } from '../types.ts'
import { budgetOf, chooseBid, costOf, replacementFloor, underpriced } from './fees.ts'
import {
  bidOptionsFor,
  type Content,
  logsOf,
  type PrepareContext,
  prepareContent,
  prepareDraft,
} from './prepare.ts'

/** New content in place of attempts with the current sequence number of the transaction. */
interface Replacement {
  readonly request: StellarRequest
  readonly attempts: readonly StellarAttempt[]
  readonly account: StellarAccount
}

/**
 * Prepares a draft in place of every attempt that a node may hold: inside a fee bump, at ten times the
 * highest rate among them (stellar-core `TransactionQueue::canAdd`, `canReplaceByFee`). When no node holds
 * one any more, it prepares a new draft like the first. Content with another sequence number waits until the
 * attempts have expired.
 */
export async function prepareReplacement(
  context: PrepareContext,
  replacement: Replacement,
): Promise<Answer<StellarPrepared> | SetupRequired<StellarRequest> | AfterExpiry> {
  const { request, attempts, account } = replacement
  const earlier = notExcluded(request, attempts)
  if (earlier.length > 0) return replaceAfterExpiry(context, replacement, earlier)
  const floor = replacementFloor(attempts)
  if (floor === undefined) return prepareDraft(context, request, account)
  const market = await context.market()
  if (market.kind !== 'ok') return market
  const content = await prepareContent(context, {
    request,
    account,
    closeTime: market.value.closeTime,
  })
  if (content.kind !== 'ok') return content
  const maxFee = budgetOf(request, account)
  const answer = raised(content.value.content, { market: market.value, floor, maxFee })
  const { included } = content.value
  return answer.kind === 'ok' ? { kind: 'ok', value: omitUndefined({ ...answer.value, included }) } : answer
}

interface Raise {
  readonly market: Parameters<typeof bidOptionsFor>[1]
  readonly floor: bigint
  readonly maxFee: bigint
}

/** Bids for the content at least `floor`, inside a fee bump; refuses when `maxFee` does not allow it. */
function raised(content: Content, { market, floor, maxFee }: Raise): Answer<StellarPrepared> {
  const wish = bidOptionsFor(content, market, maxFee)
  const bid = chooseBid({ ...wish, least: larger(wish.least, floor) })
  if (bid.kind === 'short') return { kind: 'refused', refusal: underpriced(bid.needed, maxFee) }
  const draft: StellarDraft = { ...content, feePerOperation: bid.feePerOperation, bumped: true, maxFee }
  const log = `The bid is now ${bid.feePerOperation} stroops for each operation; a node requires at least ${floor}.`
  return { kind: 'ok', value: { draft, logs: [log, ...logsOf(bid)] } }
}

/**
 * Decides about new content that does not exclude the attempts `earlier`: it waits until their bounds have
 * passed. Content that could not be sent then, or now, is refused immediately. Silent nodes do not matter
 * yet, and a cancellation sends nothing.
 */
async function replaceAfterExpiry(
  context: PrepareContext,
  { request, account }: Omit<Replacement, 'attempts'>,
  earlier: readonly StellarAttempt[],
): Promise<Answer<never> | AfterExpiry> {
  const unbounded = earlier.find(({ draft }) => !expires(draft))
  if (unbounded !== undefined) return { kind: 'refused', refusal: neverExpires(unbounded) }
  const end = lastEndOf(earlier)
  if (request.isNoop === true) return { kind: 'after_expiry', detail: cancelDetail(end) }
  const tooEarly = endsTooEarly(request, end)
  if (tooEarly !== undefined) return { kind: 'refused', refusal: tooEarly }
  const trial = await prepareDraft(context, request, account)
  if (trial.kind === 'refused') return trial
  const detail = `Both versions could be included, so the new one is sent when ${sentenceOf(end, 'the earlier one')} and the ledger has proved that it was not included.`
  if (trial.kind !== 'ok') return { kind: 'after_expiry', detail }
  const { draft, included } = trial.value
  return included === undefined
    ? { kind: 'after_expiry', detail, cost: costOf(draft) }
    : { kind: 'refused', refusal: { code: 'invalid_request', detail: included } }
}

function expires({ expiresAt, maxLedger }: StellarDraft): boolean {
  return expiresAt !== undefined || maxLedger !== undefined
}

/**
 * The end of the last attempt: the latest time of those that have one, and the latest ledger bound of those
 * without a time.
 */
interface End {
  readonly time?: Date
  readonly ledger?: LedgerSequence
}

function lastEndOf(attempts: readonly StellarAttempt[]): End {
  const times = attempts.flatMap(({ draft: { expiresAt } }) => expiresAt ?? [])
  const ledgers = attempts.flatMap(({ draft: { expiresAt, maxLedger } }) =>
    expiresAt === undefined && maxLedger !== undefined ? [maxLedger] : [],
  )
  return {
    ...(times.length > 0 && { time: new Date(Number(times.reduce(larger)) * 1_000) }),
    ...(ledgers.length > 0 && { ledger: ledgers.reduce(larger) }),
  }
}

function sentenceOf({ time, ledger }: End, name: string): string {
  const parts = [
    ...(time === undefined ? [] : [`the time bounds of ${name} have passed (${time.toISOString()})`]),
    ...(ledger === undefined ? [] : [`ledger ${ledger} makes ${name} too late`]),
  ]
  return parts.join(' and ')
}

function cancelDetail(end: End): string {
  return `The signed version may still be included until ${sentenceOf(end, 'it')}; the service does not broadcast it any more.`
}

function neverExpires({ sourceAccount, nonce }: StellarAttempt): Refusal {
  return {
    code: 'not_supported',
    detail: `Both versions could be included: the earlier one has no time bounds, so it never expires. Only a transaction_xdr with the same sequence number ${nonce}, signed by ${sourceAccount} and with fee_bump, can replace it. Other content can be sent as a new transaction when ${sourceAccount} has used the number.`,
  }
}

/** The new content must still be wanted when the earlier attempt can no longer be included. */
function endsTooEarly(request: StellarRequest, { time }: End): Refusal | undefined {
  const end = endsAt(request)
  if (time === undefined || end === undefined || end > time) return undefined
  const at = request.validUntil?.getTime() === end.getTime() ? 'valid_until' : 'transaction_xdr'
  return {
    code: 'invalid_request',
    detail: `${at}: an end after ${time.toISOString()} is expected, not ${end.toISOString()}; until then the earlier version may be included, and both could be.`,
  }
}

/**
 * Returns the time after which the caller no longer wants the transaction: its own limit or that of its
 * prebuilt transaction, whichever is earlier.
 */
export function endsAt({ validUntil, transactionXdr }: StellarRequest): Date | undefined {
  const maxTime = transactionXdr === undefined ? undefined : maxTimeOf(openEnvelope(transactionXdr).tx)
  if (maxTime === undefined) return validUntil
  const own = new Date(Number(maxTime) * 1_000)
  return validUntil !== undefined && validUntil < own ? validUntil : own
}

/** Returns the source and sequence number of externally signed content. */
export function externalNonceOf({ feeBump, transactionXdr }: StellarRequest): ExternalNonce | undefined {
  if (feeBump !== true || transactionXdr === undefined) return undefined
  const { tx } = openEnvelope(transactionXdr)
  return { address: underlying(tx.sourceAccount), nonce: tx.seqNum }
}

/**
 * Returns the attempts that the ledger may include in addition to the new content. Only content with the same
 * source and sequence number excludes an attempt. The service signs its own content for the number of its own
 * attempts, and cannot sign for that of a third party. Refused attempts count, because another node may have
 * accepted their bytes.
 */
function notExcluded(
  request: StellarRequest,
  attempts: readonly StellarAttempt[],
): readonly StellarAttempt[] {
  const externalNonce = externalNonceOf(request)
  return attempts.filter(({ outcome, sourceAccount, nonce, draft }) => {
    if (outcome !== 'signed' && outcome !== 'broadcast' && outcome !== 'refused') return false
    return externalNonce === undefined
      ? draft.externallySigned
      : externalNonce.address !== sourceAccount || externalNonce.nonce !== nonce
  })
}
