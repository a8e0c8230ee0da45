import { FAMILIES } from '../chains/families.ts'
import type { Schemas } from '../contract/operations.ts'
import { inCoins } from '../lib/bigint.ts'
import type { NamedAsset } from '../networks/network.ts'
import type { TransactionWithAttempts } from '../transactions/model/transaction.ts'

/** The columns of an export in their order. */
export const PAYMENT_COLUMNS = [
  'created_at',
  'block_time',
  'confirmed_at',
  'status',
  'relayer_id',
  'network',
  'from',
  'to',
  'asset',
  'symbol',
  'amount_smallest_unit',
  'amount',
  'token_id',
  'expected',
  'fee_smallest_unit',
  'fee',
  'fee_symbol',
  'hash',
  'reference',
  'user_id',
  'requested_by',
  'transaction_id',
] as const

/**
 * Writes a row for each transfer of a transaction, and one for a transaction without any. Its fee is in the
 * first of them, so that a sum counts it once. An amount in coins is absent without decimals.
 * @param native The native currency; undefined for a relayer that was removed.
 */
export function paymentRows(
  { transaction, attempts }: TransactionWithAttempts,
  shown: Schemas['Transaction'],
  native: NamedAsset | undefined,
): string[][] {
  const { request, network, block, currentAttempt, from, userId, requestedBy } = transaction
  const included = block && attempts.find(({ number }) => number === currentAttempt)
  const fee = included && FAMILIES[request.type].content.paidFee(included, from)
  const feeCells = [
    fee?.toString(),
    fee !== undefined && native ? inCoins(fee, native.decimals) : undefined,
    fee === undefined ? undefined : native?.symbol,
  ]
  const begin = [
    shown.created_at,
    block?.time?.toISOString(),
    shown.confirmed_at,
    shown.status,
    shown.relayer_id,
    `${request.type}:${network}`,
  ]
  const end = [shown.hash, shown.reference, userId, requestedBy, shown.id]
  const transfers = shown.transfers?.map(transferCells) ?? [TRANSFER_COLUMNS.map(() => undefined)]
  return transfers.map((cells, index) =>
    [...begin, ...cells, ...(index === 0 ? feeCells : feeCells.map(() => undefined)), ...end].map(
      (cell) => cell ?? '',
    ),
  )
}

const TRANSFER_COLUMNS = PAYMENT_COLUMNS.slice(
  PAYMENT_COLUMNS.indexOf('from'),
  PAYMENT_COLUMNS.indexOf('fee_smallest_unit'),
)

function transferCells(transfer: Schemas['Transfer']): (string | undefined)[] {
  const { from, to, asset, symbol, amount, decimals, token_id: tokenId, expected } = transfer
  const coins = decimals === undefined ? undefined : inCoins(BigInt(amount), decimals)
  return [from, to, asset, symbol, amount, coins, tokenId, expected && 'true']
}
