import type { Attempt } from '../../chains/attempt.ts'
import type { StellarDraft, StellarRequest } from '../../chains/stellar/content.ts'
import type { Transaction } from '../../transactions/model/transaction.ts'

/** What only Stellar transactions show. Fields that need a signed version are absent until there is one. */
export function presentStellarContent(
  { sourceAccount, nonce, from }: Transaction,
  { request, shown }: { request: StellarRequest; shown: Attempt | undefined },
) {
  const draft = shown?.draft.type === 'stellar' ? shown.draft : undefined
  return {
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

/** What only attempts on Stellar show. */
export function presentStellarAttempt(attempt: Attempt, draft: StellarDraft, from: string) {
  const bumped = isBumped(draft, attempt, from)
  return {
    source_account: attempt.sourceAccount,
    sequence_number: attempt.nonce?.toString(),
    fee: bidOf(draft, bumped),
    fee_charged: attempt.result?.feeCharged,
    fee_bump: bumped,
    valid_until: endOf(draft),
    transaction_xdr: envelopeOf(attempt),
    inner_hash: attempt.signed.innerHash,
    applied_hash: attempt.result?.appliedHash,
    fee_account: attempt.result?.feeAccount,
    result_xdr: attempt.result?.resultXdr,
  }
}

/** What takes the number of another account is paid by the relayer in a fee bump. */
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
