import type { ContentReader } from '../chains/capabilities.ts'
import { type AssetAmount, type Effects, NATIVE } from '../chains/effects.ts'
import type { Schemas } from '../contract/operations.ts'
import { larger } from '../lib/bigint.ts'
import type { NetworkType } from '../networks/network.ts'
import { poolIdOf } from '../relayers/accounts/pool.ts'
import { contentKind, hasLaterContent, isNoop } from '../transactions/model/attempts.ts'
import type { TransactionWithAttempts } from '../transactions/model/transaction.ts'
import { csvLine } from './csv.ts'

/**
 * A row says how much an API key spent through a relayer on one day, in one asset. Amounts are in the
 * smallest unit of the asset.
 */
export interface ReportRow {
  /** The day of the confirmation in UTC, e.g. `2026-11-20`. */
  readonly day: string
  readonly relayerId: string
  /** The id of the API key; absent for transactions of the service itself. */
  readonly requestedBy?: string | undefined
  /** By type and name, e.g. `evm:sepolia`. */
  readonly network: string
  readonly asset: string
  readonly value: bigint
  /** 0 for other assets than the native currency. */
  readonly fees: bigint
  readonly transactions: number
  /** The number of transactions of which not every amount is known. */
  readonly unknownValues: number
  /** The number of transactions whose fee no node reported. */
  readonly unknownFees: number
  /** The amount of the asset that arrived from users for fees. */
  readonly earned: bigint
  /** The number of transactions of which no node told what arrived. */
  readonly unknownEarned: number
}

/** Adds up what transactions spent. Pure, but for its own sums. */
interface ReportSums {
  add(item: TransactionWithAttempts): void
  /**
   * Returns the rows in the order of day, relayer, API key, network and asset; the native currency comes
   * first.
   */
  rows(): ReportRow[]
}

type ReaderOf = (type: NetworkType) => ContentReader

/** Creates empty sums. */
export function createReportSums(readerOf: ReaderOf): ReportSums {
  const sums = new Map<string, ReportRow>()
  return {
    add: (item) => {
      for (const row of rowsOf(item, readerOf)) {
        const key = keyOf(row)
        const before = sums.get(key)
        sums.set(key, before === undefined ? row : plus(before, row))
      }
    },
    rows: () => [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row),
  }
}

function rowsOf(item: TransactionWithAttempts, readerOf: ReaderOf): ReportRow[] {
  const { transaction } = item
  const { confirmedAt, relayerId, requestedBy, request, network } = transaction
  const spending = spendingOf(item, readerOf(request.type))
  if (confirmedAt === undefined || spending === undefined) return []
  const common = {
    day: confirmedAt.toISOString().slice(0, 'yyyy-mm-dd'.length),
    relayerId: poolIdOf(relayerId),
    requestedBy,
    network: `${request.type}:${network}`,
  }
  const { earned } = spending
  const moved = spending.amounts.filter(({ asset }) => asset !== NATIVE)
  const onlyEarned =
    earned === undefined || earned.asset === NATIVE || moved.some(({ asset }) => asset === earned.asset)
      ? []
      : [{ asset: earned.asset, value: 0n }]
  const earnedOf = (asset: string) =>
    earned?.asset === asset
      ? { earned: earned.value ?? 0n, unknownEarned: earned.value === undefined ? 1 : 0 }
      : { earned: 0n, unknownEarned: 0 }
  return [
    {
      ...common,
      asset: NATIVE,
      value: spending.amounts.find(({ asset }) => asset === NATIVE)?.value ?? 0n,
      fees: spending.fee ?? 0n,
      transactions: 1,
      unknownValues: spending.isComplete ? 0 : 1,
      unknownFees: spending.fee === undefined ? 1 : 0,
      ...earnedOf(NATIVE),
    },
    ...[...moved, ...onlyEarned].map((amount) => ({
      ...common,
      ...amount,
      fees: 0n,
      transactions: 1,
      unknownValues: 0,
      unknownFees: 0,
      ...earnedOf(amount.asset),
    })),
  ]
}

/** The parts cannot contain the separator, which sorts before every character that they can contain. */
function keyOf({ day, relayerId, requestedBy = '', network, asset }: ReportRow): string {
  return [day, relayerId, requestedBy, network, asset === NATIVE ? '' : asset].join('\n')
}

function plus(one: ReportRow, other: ReportRow): ReportRow {
  return {
    ...one,
    value: one.value + other.value,
    fees: one.fees + other.fees,
    transactions: one.transactions + other.transactions,
    unknownValues: one.unknownValues + other.unknownValues,
    unknownFees: one.unknownFees + other.unknownFees,
    earned: one.earned + other.earned,
    unknownEarned: one.unknownEarned + other.unknownEarned,
  }
}

/** The amounts that a transaction moved, and its fee. */
interface Spending {
  /** Each asset at most once. */
  readonly amounts: readonly AssetAmount[]
  /** In the smallest unit of the native currency; undefined if no node reported it. */
  readonly fee: bigint | undefined
  /** False if it may have moved more than its bytes show. */
  readonly isComplete: boolean
  /** What its payment brought, if its execution succeeded; without a value where no node told it. */
  readonly earned?: { readonly asset: string; readonly value: bigint | undefined } | undefined
}

const NOTHING_MOVED = { amounts: [], isComplete: true }

/** Returns what the chain charged for the included attempt; undefined if it includes none. Pure. */
export function spendingOf(item: TransactionWithAttempts, reader: ContentReader): Spending | undefined {
  const { transaction, attempts } = item
  const included = attempts.find(({ number }) => number === transaction.currentAttempt)
  if (included?.outcome !== 'mined' && included?.outcome !== 'reverted') return undefined
  const paid = reader.paidFee(included, transaction.from)
  // A known fee that this account did not pay is none of its costs.
  const fee = paid ?? (included.result?.feeCharged === undefined ? undefined : 0n)
  const kind = contentKind(attempts, included.number)
  const movesNothing = included.outcome === 'reverted' || kind === undefined || isNoop(kind)
  if (movesNothing) return { ...NOTHING_MOVED, fee }
  // The record has only the newest content.
  if (hasLaterContent(item, included.number)) return { amounts: [], isComplete: false, fee }
  const effects = reader.effects(transaction.request, transaction.from)
  const { payment } = transaction.request
  const received = included.result?.received
  const earned = payment && { asset: payment.token, value: received && larger(received, 0n) }
  return { amounts: movedBy(effects), isComplete: effects.unread.length === 0, fee, earned }
}

/** An allowance is used later, by a third party, if ever. */
function movedBy({ amounts, allowances }: Effects): AssetAmount[] {
  return amounts.flatMap(({ asset, value }) => {
    const allowed = allowances.find((allowance) => allowance.asset === asset)?.value ?? 0n
    return value > allowed ? [{ asset, value: value - allowed }] : []
  })
}

/** The columns of a report in their order, by their names in JSON. */
export const REPORT_COLUMNS = [
  'day',
  'relayer_id',
  'requested_by',
  'network',
  'asset',
  'value',
  'fees',
  'transactions',
  'unknown_values',
  'unknown_fees',
  'earned',
  'unknown_earned',
] as const satisfies readonly (keyof Schemas['SpendingReportRow'])[]

/** Writes rows as CSV with a header. */
export function reportCsv(rows: readonly Schemas['SpendingReportRow'][]): string {
  const texts = rows.map((row) => csvLine(REPORT_COLUMNS.map((column) => String(row[column] ?? ''))))
  return [csvLine(REPORT_COLUMNS), ...texts].join('')
}
