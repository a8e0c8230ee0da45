import type { Attempt, Draft } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import { boundTransfers, NATIVE, type Transfer } from '../../chains/effects.ts'
import type { EvmDraft, EvmRequest } from '../../chains/evm/content.ts'
import { FAMILIES } from '../../chains/families.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { SolanaDraft, SolanaInstruction, SolanaRequest } from '../../chains/solana/content.ts'
import type { StellarDraft, StellarRequest } from '../../chains/stellar/content.ts'
import type { StellarOperation } from '../../chains/stellar/model/operation.ts'
import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { AssetNames } from '../../networks/tokens.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import { isNoop } from '../../transactions/model/attempts.ts'
import type { Transaction, TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { presentEvmReceipt, presentSolanaReceipt, presentStellarReceipt } from './receipt.ts'

/** The parts of a chain with words for people. */
type ShowingChain = Pick<Chain, 'speed' | 'assetNames'>

/**
 * A transaction as the contract shows it in lists: with the attempt that counts. Without a chain, for a
 * relayer that was removed, it does not say what its speed means, nor what its assets are called.
 */
export function presentTransaction(
  { transaction, attempts }: TransactionWithAttempts,
  chain: ShowingChain | undefined,
): Schemas['Transaction'] {
  const shown = attempts.find((attempt) => attempt.number === transaction.currentAttempt)
  const { request, from } = transaction
  const transfersOf = (content: ChainRequest | Draft) =>
    presentTransfers(content, { from, assetNames: chain?.assetNames })
  const withTransfers = <Requested extends object>(requested: Requested | undefined) =>
    requested && omitUndefined({ ...requested, ...transfersOf(request) })
  const common = {
    ...presentCommon(transaction, shown),
    ...(happenedIn(transaction, shown, chain?.assetNames) ?? transfersOf(shown?.draft ?? request)),
  }
  switch (request.type) {
    case 'evm': {
      const content = presentEvmContent(transaction, { request, shown, chain })
      const requested = withTransfers(requestedEvmContent({ request, shown }))
      const receipt = presentEvmReceipt(transaction, shown)
      return omitUndefined({ ...common, ...content, requested, receipt })
    }
    case 'solana': {
      const content = presentSolanaContent({ request, shown, chain })
      const requested = withTransfers(requestedSolanaContent(transaction, request))
      const receipt = presentSolanaReceipt(transaction, shown)
      return omitUndefined({ ...common, ...content, requested, receipt })
    }
    case 'stellar': {
      const content = presentStellarContent(transaction, { request, shown })
      const requested = withTransfers(requestedStellarContent(transaction, request))
      const receipt = presentStellarReceipt(transaction, shown)
      return omitUndefined({ ...common, ...content, requested, receipt })
    }
  }
}

/** The same with every attempt, for answers about a single transaction. */
export function presentWithAttempts(
  item: TransactionWithAttempts,
  chain: Chain,
): Schemas['TransactionWithAttempts'] {
  const shown = presentTransaction(item, chain)
  const { attempts } = item
  switch (shown.network_type) {
    case 'evm':
      return { ...shown, attempts: attempts.filter(isEvmAttempt).map(presentEvmAttempt) }
    case 'solana':
      return { ...shown, attempts: attempts.filter(isSolanaAttempt).map(presentSolanaAttempt) }
    case 'stellar': {
      const { from } = item.transaction
      const present = attempts.filter(isStellarAttempt).map((attempt) => presentStellarAttempt(attempt, from))
      return { ...shown, attempts: present }
    }
  }
}

function presentCommon(transaction: Transaction, shown: Attempt | undefined) {
  return {
    id: transaction.id,
    relayer_id: poolIdOf(transaction.relayerId),
    status: transaction.status,
    status_reason: transaction.statusReason,
    awaits_approval: transaction.awaitsApproval === true ? (true as const) : undefined,
    undecided_since: transaction.undecidedSince?.toISOString(),
    top_up_of: transaction.topUpOf && poolIdOf(transaction.topUpOf),
    lane: transaction.lane,
    reference: transaction.reference,
    no_op: isNoopShown(transaction, shown) ? (true as const) : undefined,
    valid_from: transaction.request.validFrom?.toISOString(),
    created_at: transaction.createdAt.toISOString(),
    sent_at: (shown?.broadcastAt ?? transaction.sentAt)?.toISOString(),
    confirmed_at: transaction.confirmedAt?.toISOString(),
    from: transaction.from,
    hash: shown?.signed.hash ?? transaction.statedHash,
    signature: shown?.signed.signature,
  }
}

/**
 * Tells whether the shown attempt executes nothing. A raise of its fee has the content of the attempt before,
 * which an event does not have.
 */
function isNoopShown({ request }: Transaction, shown: Attempt | undefined): boolean {
  if (shown === undefined) return false
  const { draft, kind } = shown
  if (isNoop(kind)) return true
  if (kind !== 'speed_up' || draft.type !== 'evm' || request.type !== 'evm') return false
  const isEmpty = draft.value === 0n && draft.data === '0x' && draft.authorizationList === undefined
  return isEmpty && !isRequested(request, draft)
}

/** The sender of content, and the names of assets for people. */
interface TransferContext {
  readonly from: string
  readonly assetNames: AssetNames | undefined
}

/** The transfers of content, as they are expected before a block includes it. */
function presentTransfers(content: ChainRequest | Draft, { from, assetNames }: TransferContext) {
  const { transfers, truncated } = FAMILIES[content.type].transfers(content, from)
  return {
    transfers: transfers.length === 0 ? undefined : transfers.map((one) => presentTransfer(one, assetNames)),
    transfers_truncated: truncated ? (true as const) : undefined,
  }
}

/** The transfers that the block of the shown attempt tells; undefined while none does. */
function happenedIn(
  { block, from }: Transaction,
  shown: Attempt | undefined,
  assetNames: AssetNames | undefined,
) {
  const { moved, movedMore } = shown?.result ?? {}
  if (block === undefined || shown === undefined || moved === undefined) return undefined
  // No event tells of the native currency, which the content itself moves.
  const { transfers } = FAMILIES[shown.draft.type].transfers(shown.draft, from)
  const all = boundTransfers([...transfers.filter(({ asset }) => asset === NATIVE), ...moved])
  return {
    transfers:
      all.transfers.length === 0
        ? undefined
        : all.transfers.map((one) =>
            omitUndefined({ ...presentTransfer(one, assetNames), expected: undefined }),
          ),
    transfers_truncated: movedMore || all.truncated ? (true as const) : undefined,
  }
}

/** Decimals that the bytes make certain are of no use where the operator knows better. */
function presentTransfer(
  { from, to, asset, amount, tokenId, decimals }: Transfer,
  assetNames: AssetNames | undefined,
): Schemas['Transfer'] {
  return omitUndefined({
    from,
    to,
    asset,
    amount: String(amount),
    decimals,
    ...assetNames?.(asset),
    token_id: tokenId?.toString(),
    expected: true as const,
  })
}

interface EvmParts {
  readonly request: EvmRequest
  readonly shown: Attempt | undefined
  /** Absent for a relayer that was removed. */
  readonly chain: Pick<Chain, 'speed'> | undefined
}

/**
 * The fields that only EVM transactions have: the content of the shown attempt, or the request while nothing
 * is signed.
 */
function presentEvmContent(transaction: Transaction, { request, shown, chain }: EvmParts) {
  const content = shown?.draft.type === 'evm' ? presentDraft(shown.draft) : presentRequest(request)
  const { nonce, isPrivate, madePublicAt } = transaction
  return {
    network_type: 'evm' as const,
    nonce,
    private: isPrivate === true ? (true as const) : undefined,
    made_public_at: madePublicAt?.toISOString(),
    ...content,
    speed: presentEvmSpeed(request, chain),
  }
}

/** The purposes of a transaction whose shown attempt may not be what its caller asked for last. */
const OTHER_CONTENT: ReadonlySet<Transaction['purpose']> = new Set([
  'successor',
  'cancel',
  'expire',
  'abandon',
])

/** The content of the newest request, if the shown attempt has another: a no-op, or an earlier version. */
function requestedEvmContent({ request, shown }: Pick<EvmParts, 'request' | 'shown'>) {
  if (shown?.draft.type !== 'evm' || isRequested(request, shown.draft)) return undefined
  const { to, value, data } = request
  return omitUndefined({ to, value: String(value), data })
}

/** Tells whether a draft has the content of the newest request, if that is a caller's. */
function isRequested({ to, value, data = '0x', isNoop: isOfService }: EvmRequest, draft: EvmDraft): boolean {
  if (isOfService) return true
  return draft.to?.toLowerCase() === to?.toLowerCase() && draft.value === value && draft.data === data
}

/** Tells whether an attempt was signed for an EVM network. */
function isEvmAttempt(attempt: Attempt): attempt is Attempt<EvmDraft> {
  return attempt.draft.type === 'evm'
}

/** An attempt on an EVM network as the contract shows it. */
function presentEvmAttempt(attempt: Attempt<EvmDraft>): Schemas['EvmAttempt'] {
  const nonce = requireNonce(attempt)
  return omitUndefined({ ...presentCommonAttempt(attempt), nonce, ...presentDraft(attempt.draft) })
}

function presentRequest(request: EvmRequest) {
  return {
    to: request.to,
    value: String(request.value),
    data: request.data,
    ...presentLists(request),
    gas_limit: request.gasLimit,
    gas_price: request.gasPrice?.toString(),
    max_fee_per_gas: request.maxFeePerGas?.toString(),
    max_priority_fee_per_gas: request.maxPriorityFeePerGas?.toString(),
  }
}

function presentDraft({ to, value, data, gasLimit, fees, ...lists }: EvmDraft) {
  const prices =
    fees.kind === 'legacy'
      ? { gas_price: String(fees.gasPrice) }
      : {
          max_fee_per_gas: String(fees.maxFeePerGas),
          max_priority_fee_per_gas: String(fees.maxPriorityFeePerGas),
        }
  return { to, value: String(value), data, ...presentLists(lists), gas_limit: gasLimit, ...prices }
}

function presentLists({ accessList, authorizationList }: Pick<EvmDraft, 'accessList' | 'authorizationList'>) {
  return {
    access_list: accessList?.map(({ address, storageKeys }) => ({ address, storage_keys: storageKeys })),
    authorization_list: authorizationList?.map(({ chainId, yParity, ...signed }) => ({
      ...signed,
      chain_id: chainId,
      y_parity: yParity,
    })),
  }
}

function presentEvmSpeed({ speed: level }: EvmRequest, chain: EvmParts['chain']) {
  if (level === undefined || chain === undefined) return undefined
  const { priceMultiplier, raiseAfterSeconds } = chain.speed(level)
  return { level, price_multiplier: priceMultiplier, raise_after_seconds: raiseAfterSeconds }
}

interface SolanaParts {
  readonly request: SolanaRequest
  readonly shown: Attempt | undefined
  /** Absent for a removed relayer; then the meaning of its speed is unknown. */
  readonly chain: Pick<Chain, 'speed'> | undefined
}

/**
 * The fields that only Solana transactions have. Those that need a signed version are absent until there is
 * one.
 */
export function presentSolanaContent({ request, shown, chain }: SolanaParts) {
  const draft = shown?.draft.type === 'solana' ? shown.draft : undefined
  return {
    network_type: 'solana' as const,
    transaction: shown ? wireOf(shown) : request.transaction,
    transaction_signature: shown?.signed.hash,
    instructions: request.instructions?.map(presentInstruction),
    fee: shown?.result?.feeCharged ?? draft?.fee,
    last_valid_block_height: draft && lastHeightOf(draft),
    speed: presentSolanaSpeed(request, chain),
    valid_until: request.validUntil?.toISOString(),
  }
}

function requestedSolanaContent(
  { purpose, currentAttempt }: Transaction,
  { instructions, transaction }: SolanaRequest,
) {
  if (currentAttempt === undefined || !OTHER_CONTENT.has(purpose)) return undefined
  return omitUndefined({
    instructions: instructions?.map(presentInstruction),
    transaction,
  })
}

/** Tells whether an attempt was signed for a Solana network. */
function isSolanaAttempt(attempt: Attempt): attempt is Attempt<SolanaDraft> {
  return attempt.draft.type === 'solana'
}

/** An attempt on a Solana network as the contract shows it. */
export function presentSolanaAttempt(attempt: Attempt<SolanaDraft>): Schemas['SolanaAttempt'] {
  return omitUndefined({
    ...presentCommonAttempt(attempt),
    transaction: wireOf(attempt),
    fee: attempt.result?.feeCharged ?? attempt.draft.fee,
    last_valid_block_height: lastHeightOf(attempt.draft),
  })
}

function wireOf({ signed }: Attempt): string {
  return Buffer.from(signed.raw).toString('base64')
}

function lastHeightOf({ expiresAt }: SolanaDraft): bigint | undefined {
  return expiresAt === undefined ? undefined : expiresAt - 1n
}

/** Writes an instruction as the contract has it. */
export function presentInstruction({ programId, accounts, data }: SolanaInstruction) {
  return {
    program_id: programId,
    accounts: accounts.map(({ pubkey, isSigner, isWritable }) => ({
      pubkey,
      is_signer: isSigner,
      is_writable: isWritable,
    })),
    data,
  }
}

function presentSolanaSpeed({ speed: level }: SolanaRequest, chain: SolanaParts['chain']) {
  if (chain === undefined) return undefined
  const { priceMultiplier, raiseAfterSeconds } = chain.speed(level)
  return { level, price_multiplier: priceMultiplier, raise_after_seconds: raiseAfterSeconds }
}

/**
 * The fields that only Stellar transactions have. Those that need a signed version are absent until there is
 * one.
 */
function presentStellarContent(
  transaction: Transaction,
  { request, shown }: { request: StellarRequest; shown: Attempt | undefined },
) {
  const { sourceAccount, nonce, from } = transaction
  const draft = shown?.draft.type === 'stellar' ? shown.draft : undefined
  return {
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
  }
}

function requestedStellarContent(
  { purpose, currentAttempt }: Transaction,
  { operations, transactionXdr, memo }: StellarRequest,
) {
  if (currentAttempt === undefined || !OTHER_CONTENT.has(purpose)) return undefined
  return omitUndefined({
    // Callers send only operations of the contract, which have the same form there.
    operations: operations as Schemas['RequestedStellarContent']['operations'],
    transaction_xdr: transactionXdr,
    memo,
  })
}

/** Only the service restores footprints by itself; the contract has no such operation. */
function isOfCaller(
  operation: StellarOperation,
): operation is Exclude<StellarOperation, { readonly type: 'restore_footprint' }> {
  return operation.type !== 'restore_footprint'
}

/** Tells whether an attempt was signed for a Stellar network. */
function isStellarAttempt(attempt: Attempt): attempt is Attempt<StellarDraft> {
  return attempt.draft.type === 'stellar'
}

/** An attempt on a Stellar network as the contract shows it. */
function presentStellarAttempt(attempt: Attempt<StellarDraft>, from: string): Schemas['StellarAttempt'] {
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

/** The fields that attempts on every kind of network show. */
function presentCommonAttempt(attempt: Attempt) {
  return {
    number: attempt.number,
    kind: attempt.kind,
    outcome: attempt.outcome,
    hash: attempt.signed.hash,
    signed_at: attempt.signedAt.toISOString(),
    broadcast_at: attempt.broadcastAt?.toISOString(),
    error: attempt.error,
  }
}

/**
 * The nonce of an attempt. @throws Error if it has none, which is possible only on a chain without nonces
 */
function requireNonce({ number, nonce }: Attempt): bigint {
  if (nonce === undefined) throw new Error(`attempt ${number} has no nonce`)
  return nonce
}
