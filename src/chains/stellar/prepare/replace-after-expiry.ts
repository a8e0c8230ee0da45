import { larger } from '../../../lib/bigint.ts'
import type { Answer, Refusal } from '../../answer.ts'
import type { AfterExpiry } from '../../prepared.ts'
import type { StellarDraft, StellarRequest } from '../content.ts'
import type { StellarAttempt } from '../types.ts'
import { endsAt } from './ends-at.ts'
import { costOf } from './fees.ts'
import { type PrepareContext, prepareDraft } from './prepare.ts'
import type { Replacement } from './replace.ts'

/**
 * Decides about new content that does not exclude the attempts `earlier`: it waits until their bounds have passed. Content that could not be
 * sent then, or now, is refused at once. Silent nodes do not matter yet, and a cancellation sends nothing.
 */
export async function replaceAfterExpiry(
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

/** The end of the last attempt: the latest time of those that have one, and the latest ledger bound of those without a time. */
interface End {
  readonly time?: Date
  readonly ledger?: bigint
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
