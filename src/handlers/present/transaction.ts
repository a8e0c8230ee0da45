import type { Attempt, Draft } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import { boundTransfers, NATIVE, type Transfer } from '../../chains/effects.ts'
import { FAMILIES } from '../../chains/families.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/object.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import type { After } from '../../transactions/model/after.ts'
import { isNoop } from '../../transactions/model/attempts.ts'
import type { Transaction, TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import type { CommonRecord, ShownTransfers } from '../codecs/codec.ts'
import { CODECS } from '../codecs/codecs.ts'

/** The parts of a chain with words for people. */
type ShowingChain = Pick<Chain, 'speed' | 'assetNames' | 'tokenDecimals'>

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
  const transfersOf = (content: ChainRequest | Draft) => presentTransfers(content, { from, chain })
  const common = {
    ...presentCommon(transaction, shown),
    ...(happenedIn(transaction, shown, chain) ?? transfersOf(shown?.draft ?? request)),
  }
  const requestedTransfers = () => transfersOf(request)
  const parts = { common, transaction, request, requestedTransfers, shown, chain }
  return CODECS[request.type].presentRecord(parts)
}

/** The same with every attempt, for answers about a single transaction. */
export function presentWithAttempts(
  item: TransactionWithAttempts,
  chain: ShowingChain,
): Schemas['TransactionWithAttempts'] {
  const shown = presentTransaction(item, chain)
  const { transaction, attempts } = item
  const own = attempts.filter(({ draft }) => draft.type === shown.network_type)
  return CODECS[shown.network_type].withAttempts(shown, own, transaction.from)
}

function presentCommon(
  transaction: Transaction,
  shown: Attempt | undefined,
): Omit<CommonRecord, keyof ShownTransfers> {
  return {
    id: transaction.id,
    relayer_id: poolIdOf(transaction.relayerId),
    status: transaction.status,
    status_reason: transaction.statusReason,
    awaits_approval: transaction.awaitsApproval === true ? (true as const) : undefined,
    after: transaction.after && presentAfter(transaction.after),
    awaits_transaction: transaction.awaitsTransaction === undefined ? undefined : (true as const),
    undecided_since: transaction.undecidedSince?.toISOString(),
    top_up_of: transaction.topUpOf && poolIdOf(transaction.topUpOf),
    schedule_id: transaction.scheduleId,
    lane: transaction.lane,
    reference: transaction.reference,
    description: transaction.description,
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

function presentAfter({ transactionId, relayerId, state, onFailure }: After): Schemas['After'] {
  return { transaction_id: transactionId, relayer_id: poolIdOf(relayerId), state, on_failure: onFailure }
}

/**
 * Tells whether the shown attempt executes nothing. A raise of its fee has the content of the attempt before,
 * which an event does not have.
 */
function isNoopShown({ request }: Transaction, shown: Attempt | undefined): boolean {
  if (shown === undefined) return false
  const { draft, kind } = shown
  if (isNoop(kind)) return true
  if (kind !== 'speed_up' || draft.type !== request.type) return false
  return CODECS[request.type].isEmpty?.(request, draft) === true
}

/** Absent for a relayer that was removed. */
type NamingChain = Pick<Chain, 'assetNames' | 'tokenDecimals'> | undefined

/** The sender of content, and what knows the names of assets for people. */
interface TransferContext {
  readonly from: string
  readonly chain: NamingChain
}

/** The transfers of content, as they are expected before a block includes it. */
function presentTransfers(content: ChainRequest | Draft, { from, chain }: TransferContext) {
  const { transfers, truncated } = FAMILIES[content.type].transfers(content, from)
  return {
    transfers: transfers.length === 0 ? undefined : transfers.map((one) => presentTransfer(one, chain)),
    transfers_truncated: truncated ? (true as const) : undefined,
  }
}

/** The transfers that the block of the shown attempt tells; undefined while none does. */
function happenedIn({ block, from }: Transaction, shown: Attempt | undefined, chain: NamingChain) {
  const { moved, movedMore } = shown?.result ?? {}
  if (block === undefined || shown === undefined || moved === undefined) return undefined
  const family = FAMILIES[shown.draft.type]
  const untold = family.hidesNative
    ? family.transfers(shown.draft, from).transfers.filter(({ asset }) => asset === NATIVE)
    : []
  const all = boundTransfers([...untold, ...moved])
  return {
    transfers:
      all.transfers.length === 0
        ? undefined
        : all.transfers.map((one) => omitUndefined({ ...presentTransfer(one, chain), expected: undefined })),
    transfers_truncated: movedMore || all.truncated ? (true as const) : undefined,
  }
}

/**
 * The operator knows best, then the bytes or the block. Only an asset of which neither says anything is asked
 * for its decimals; a single token (NFT) has none.
 */
function presentTransfer(
  { from, to, asset, amount, tokenId, decimals }: Transfer,
  chain: NamingChain,
): Schemas['Transfer'] {
  const named = chain?.assetNames(asset)
  const isUnknown = named === undefined && decimals === undefined && tokenId === undefined
  return omitUndefined({
    from,
    to,
    asset,
    amount: String(amount),
    decimals: isUnknown ? chain?.tokenDecimals?.(asset) : decimals,
    ...named,
    token_id: tokenId?.toString(),
    expected: true as const,
  })
}
