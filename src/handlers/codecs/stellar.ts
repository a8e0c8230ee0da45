import type { StellarEvent } from '../../chains/answer.ts'
import type { Attempt } from '../../chains/attempt.ts'
import type { StellarDraft, StellarRequest } from '../../chains/stellar/content.ts'
import type { StellarMemo, StellarOperation } from '../../chains/stellar/model/operation.ts'
import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import { inCoins } from '../../lib/bigint.ts'
import { omitUndefined } from '../../lib/object.ts'
import { showPrice } from '../../sponsoring/charge.ts'
import type { Built, Quoted } from '../../sponsoring/sponsor.ts'
import type { Transaction } from '../../transactions/model/transaction.ts'
import {
  type Codec,
  OTHER_CONTENT,
  presentCommonAttempt,
  type RecordParts,
  type RequestBody,
  requireNonce,
} from './codec.ts'

/** The form of what belongs to Stellar networks: group C of the contract. */
export const STELLAR_CODEC: Codec<'stellar'> = {
  accepts: isStellarRequest,
  expected: 'network with operations or transaction_xdr',
  readRequest: (body) => readStellarRequest(body as Schemas['StellarTransactionRequest']),
  unsignedFields: 'unsigned_xdr (base64)',
  presentSigned: ({ raw, signature }) => ({
    signedXdr: Buffer.from(raw).toString('base64'),
    signature: Buffer.from(signature.sig, 'hex').toString('base64'),
  }),
  presentRecord,
  withAttempts: (shown, attempts, from) => ({
    ...shown,
    attempts: attempts.map((attempt) => presentAttempt(attempt, from)),
  }),
  presentEmitted: async ({ receipt }, { told: { emitted }, common }) => {
    if (receipt === undefined || emitted.type !== 'stellar') return undefined
    const events = emitted.events.map(presentEvent)
    const shown = { ...common, network_type: 'stellar' as const, receipt, events }
    return emitted.returnValue === undefined ? shown : { ...shown, return_value: emitted.returnValue }
  },
  // A sequence number is the one that the ledger has seen last; a nonce is the next one.
  presentNumber: ({ chainNonce }) => ({
    sequence_number: chainNonce === undefined ? undefined : String(chainNonce - 1n),
  }),
  sponsored: { presentQuote, presentBuild },
  presentNetwork: ({ passphrase }) => ({ passphrase }),
}

/** Recognises a body of group C. */
export function isStellarRequest(body: RequestBody): body is Schemas['StellarTransactionRequest'] {
  return 'network' in body
}

/** Converts a body of group C to the domain's request. Null counts as absent. */
export function readStellarRequest(body: Schemas['StellarTransactionRequest']): StellarRequest {
  return omitUndefined({
    type: 'stellar' as const,
    network: body.network,
    operations: body.operations?.map((operation, index) => readOperation(operation, `operations[${index}]`)),
    sourceAccount: body.source_account ?? undefined,
    transactionXdr: body.transaction_xdr ?? undefined,
    feeBump: body.fee_bump ?? undefined,
    signedAuthEntry: body.signed_auth_entry ?? undefined,
    maxFee: body.max_fee ?? undefined,
    memo: body.memo ? readMemo(body.memo) : undefined,
    validFrom: body.valid_from ? new Date(body.valid_from) : undefined,
    validUntil: body.valid_until ? new Date(body.valid_until) : undefined,
  })
}

function readMemo(memo: Schemas['MemoSpec']): StellarMemo {
  return memo.type === 'id' ? { type: 'id', value: BigInt(memo.value) } : memo
}

/** Operations have the same form in the domain and in the contract. */
function readOperation(operation: Schemas['OperationSpec'], at: string): StellarOperation {
  if (operation.type !== 'invoke_contract') return operation
  const { named_args, args = [], ...others } = operation
  if (operation.args === undefined && named_args === undefined)
    throw new AppError('invalid_request', `${at}.args: is required, unless there are named_args.`)
  if (operation.args !== undefined && named_args !== undefined)
    throw new AppError('invalid_request', `${at}.named_args: expected either args or named_args, not both.`)
  return omitUndefined({
    ...others,
    args,
    // The contract, and not the name of a field, decides which of them are integers.
    named_args,
  })
}

/** Writes a record. The fields that need a signed version are absent until there is one. */
function presentRecord(parts: RecordParts<'stellar'>): Schemas['StellarTransaction'] {
  const { common, transaction, request, shown } = parts
  const { sourceAccount, nonce, from } = transaction
  const draft = shown?.draft.type === 'stellar' ? shown.draft : undefined
  return omitUndefined({
    ...common,
    network_type: 'stellar' as const,
    source_account: sourceAccount ?? from,
    sequence_number: (shown?.nonce ?? nonce)?.toString(),
    fee: shown?.result?.feeCharged ?? (draft && shown && bidOf(draft, isBumped(draft, shown, from))),
    max_fee: request.maxFee,
    operations: request.operations?.every(isOfCaller) ? request.operations : undefined,
    memo: request.memo,
    fee_bump: draft && shown && isBumped(draft, shown, from),
    valid_until: (draft && endOf(draft)) ?? request.validUntil?.toISOString(),
    transaction_xdr: shown ? envelopeOf(shown) : request.transactionXdr,
    applied_hash: shown?.result?.appliedHash,
    fee_account: shown?.result?.feeAccount,
    result_xdr: shown?.result?.resultXdr,
    transaction_result_xdr: shown?.result?.returnValueXdr,
    requested: presentRequested(parts),
    receipt: presentReceipt(transaction, shown),
  })
}

function presentRequested({
  transaction: { purpose, currentAttempt },
  request,
  requestedTransfers,
}: RecordParts<'stellar'>) {
  if (currentAttempt === undefined || !OTHER_CONTENT.has(purpose)) return undefined
  const { operations, transactionXdr, memo } = request
  return omitUndefined({
    // Callers send only operations of the contract, which have the same form there.
    operations: operations as Schemas['RequestedStellarContent']['operations'],
    transaction_xdr: transactionXdr,
    memo,
    ...requestedTransfers(),
  })
}

/** Only the service restores footprints by itself; the contract has no such operation. */
function isOfCaller(
  operation: StellarOperation,
): operation is Exclude<StellarOperation, { readonly type: 'restore_footprint' }> {
  return operation.type !== 'restore_footprint'
}

/** An attempt on a Stellar network as the contract shows it. */
function presentAttempt(attempt: Attempt<StellarDraft>, from: string): Schemas['StellarAttempt'] {
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

/** The ledger that includes the attempt; undefined while none does. */
function presentReceipt(
  { block }: Transaction,
  shown: Attempt | undefined,
): Schemas['StellarReceipt'] | undefined {
  if (block === undefined || shown === undefined) return undefined
  const { appliedHash, feeCharged, feeAccount } = shown.result ?? {}
  return omitUndefined({
    transaction_hash: appliedHash ?? shown.signed.hash,
    ledger: block.number,
    ledger_time: block.time?.toISOString(),
    fee_charged: feeCharged,
    fee_account: feeAccount,
  })
}

function presentEvent({ type, contractId, topics, data }: StellarEvent) {
  return omitUndefined({ type, contract_id: contractId, topics: [...topics], data })
}

function presentQuote({
  charge: { amount, most },
  hasMost,
  price,
  tokenDecimals,
}: Quoted): Schemas['SponsoredStellarQuote'] {
  return {
    fee_in_token: String(amount),
    fee_in_token_ui: inCoins(amount, tokenDecimals),
    conversion_rate: showPrice(price),
    ...(hasMost && { max_fee_in_token: String(most), max_fee_in_token_ui: inCoins(most, tokenDecimals) }),
  }
}

function presentBuild(built: Built): Schemas['SponsoredStellarBuild'] {
  const { conversion_rate: _, ...fees } = presentQuote(built)
  return omitUndefined({
    ...fees,
    transaction: built.transaction,
    fee_in_stroops: String(built.fee),
    fee_token: built.feeToken,
    valid_until: built.validUntil.toISOString(),
    user_auth_entry: built.userAuthEntry,
  })
}
