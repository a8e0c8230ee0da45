import { CallError } from '../shared/call-error.ts'
import type { World } from '../shared/host.ts'
import { listTransactions } from '../shared/records.ts'
import type { Settings, Swap } from './config.ts'
import { movedBy, type SwapRecord } from './exchange.ts'
import { decimalOf, lossBps, readOrder, referenceOf, worthOf } from './names.ts'
import { open } from './open.ts'
import { ownKey } from './relayer.ts'

/** A sale of a day, with what it cost. Amounts are in the smallest units of the token and the coin. */
interface SoldTokens {
  readonly swap: string
  readonly relayer_id: string
  readonly transaction_id: string
  readonly hash?: string
  readonly status: string
  readonly token: string
  /** What was to be sold, and for how much at least. */
  readonly amount: string
  readonly least: string
  /** What its block tells; absent until one is final and a node has told it. */
  readonly sold?: string
  readonly bought?: string
  /** What the sources told, in tokens for a coin, and how much less arrived, in basis points. */
  readonly prices: readonly { readonly source: string; readonly price: string; readonly loss_bps?: string }[]
}

/** What the swaps of a day cost. */
export interface SwapReport {
  readonly day: string
  readonly swaps: readonly SoldTokens[]
  /** What the networks charged for all of their transactions, in the smallest unit of the coin. */
  readonly fees: readonly { readonly relayer_id: string; readonly amount: string }[]
}

interface PaidRecord extends SwapRecord {
  readonly receipt?: SwapRecord['receipt'] & {
    readonly fee?: string | number
    readonly fee_charged?: string | number
  }
}

const DAY_MS = 86_400_000

/**
 * Answers `GET /swaps?day=…`: the sales that were accepted on a day (UTC), from the records of the service.
 * @throws CallError for a wrong day
 */
export async function report(
  day: string | undefined,
  { swaps }: Settings,
  world: World,
): Promise<SwapReport> {
  const begin = /^\d{4}-\d{2}-\d{2}$/.test(day ?? '') ? Date.parse(`${day}T00:00:00Z`) : Number.NaN
  if (day === undefined || Number.isNaN(begin))
    throw new CallError(400, 'invalid_day', 'day: expected a date once, such as ?day=2026-11-30.')
  const byId = new Map(swaps.map((swap) => [swap.id, swap]))
  const sold: SoldTokens[] = []
  const fees = new Map<string, bigint>()
  const requestedBy = await ownKey(world)
  for (const relayerId of new Set(swaps.map((swap) => swap.relayerId))) {
    const filters = {
      relayer_id: relayerId,
      reference: referenceOf(relayerId),
      requested_by: requestedBy,
      created_after: new Date(begin).toISOString(),
      created_before: new Date(begin + DAY_MS).toISOString(),
    }
    for await (const record of listTransactions<PaidRecord>(filters, world.api)) {
      const fee = record.receipt?.fee ?? record.receipt?.fee_charged ?? 0
      fees.set(relayerId, (fees.get(relayerId) ?? 0n) + BigInt(fee))
      const swap = byId.get(readOrder(record.description)?.swap ?? '')
      if (swap?.relayerId === relayerId) sold.push(await shownOf(record, swap, world))
    }
  }
  return {
    day,
    swaps: sold,
    fees: [...fees].map(([relayer_id, amount]) => ({ relayer_id, amount: amount.toString() })),
  }
}

async function shownOf(record: PaidRecord, swap: Swap, world: World): Promise<SoldTokens> {
  const order = readOrder(record.description)
  if (order === undefined) throw new Error('the record is of no sale')
  const exchange = await open(swap, world)
  const moved = record.status === 'confirmed' ? movedBy(record, exchange) : undefined
  const decimals = { token: swap.decimals, coin: exchange.coinDecimals }
  return {
    swap: swap.id,
    relayer_id: swap.relayerId,
    transaction_id: record.id,
    ...(record.hash !== undefined && { hash: record.hash }),
    status: record.status,
    token: order.token,
    amount: order.amount.toString(),
    least: order.least.toString(),
    ...(moved && { sold: moved.sold.toString(), bought: moved.bought.toString() }),
    prices: order.prices.map(({ source, price }) => ({
      source,
      price: decimalOf(price),
      ...(moved && {
        loss_bps: lossBps(worthOf(moved.sold, price, decimals), moved.bought).toString(),
      }),
    })),
  }
}
