import type { Attempt } from '../../chains/attempt.ts'
import type { StellarDraft, StellarRequest } from '../../chains/stellar/content.ts'
import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import type { Transaction } from '../../transactions/model/transaction.ts'
import { presentCommonAttempt, requireNonce } from './attempt.ts'

/** The fields that only Stellar transactions have. Those that need a signed version are absent until there is one. */
export function presentStellarContent(
  { sourceAccount, nonce, from }: Transaction,
  { request, shown }: { request: StellarRequest; shown: Attempt | undefined },
) {
  const draft = shown?.draft.type === 'stellar' ? shown.draft : undefined
  return {
    network_type: 'stellar' as const,
    source_account: sourceAccount ?? from,
    sequence_number: (shown?.nonce ?? nonce)?.toString(),
    fee: shown?.result?.feeCharged ?? (draft && shown && bidOf(draft, isBumped(draft, shown, from))),
    max_fee: request.maxFee,
    fee_bump: draft && shown && isBumped(draft, shown, from),
    valid_until: (draft && endOf(draft)) ?? request.validUntil?.toISOString(),
    transaction_xdr: shown ? envelopeOf(shown) : request.transactionXdr,
    applied_hash: shown?.result?.appliedHash,
    fee_account: shown?.result?.feeAccount,
    result_xdr: shown?.result?.resultXdr,
    transaction_result_xdr: shown?.result?.returnValueXdr,
  }
}

/** Tells whether an attempt was signed for a Stellar network. */
export function isStellarAttempt(attempt: Attempt): attempt is Attempt<StellarDraft> {
  return attempt.draft.type === 'stellar'
}

/** An attempt on a Stellar network as the contract shows it. */
export function presentStellarAttempt(
  attempt: Attempt<StellarDraft>,
  from: string,
): Schemas['StellarAttempt'] {
  const { draft, sourceAccount, result } = attempt
  const bumped = isBumped(draft, attempt, from)
  return omitUndefined({
    ...presentCommonAttempt(attempt),
    source_account: sourceAccount,
    sequence_number: String(requireNonce(attempt)),
    fee: bidOf(draft, bumped),
    fee_charged: result?.feeCharged,
    fee_bump: bumped,
    valid_until: endOf(draft),
    transaction_xdr: envelopeOf(attempt),
    inner_hash: attempt.signed.innerHash,
    applied_hash: result?.appliedHash,
    fee_account: result?.feeAccount,
    result_xdr: result?.resultXdr,
  })
}

/** The relayer pays for an attempt that uses the sequence number of another account in a fee bump. */
function isBumped(draft: StellarDraft, { sourceAccount }: Attempt, from: string): boolean {
  return draft.bumped || sourceAccount !== from
}

/** The most that the version pays; a fee bump counts as one more operation (CAP-15). */
function bidOf(draft: StellarDraft, bumped: boolean): bigint {
  return draft.feePerOperation * BigInt(draft.operationCount + (bumped ? 1 : 0)) + draft.resourceFee
}

function endOf({ expiresAt }: StellarDraft): string | undefined {
  return expiresAt === undefined ? undefined : new Date(Number(expiresAt) * 1_000).toISOString()
}

function envelopeOf({ signed }: Attempt): string {
  return Buffer.from(signed.raw).toString('base64')
}
