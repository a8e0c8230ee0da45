import type { ContentReader } from '../chains/capabilities.ts'
import { NATIVE } from '../chains/effects.ts'
import type { NetworkType } from '../networks/network.ts'
import type { TransactionWithAttempts } from '../transactions/model/transaction.ts'
import { spendingOf } from './spending-of.ts'

/** A row says how much an API key spent through a relayer on one day, in one asset. Amounts are in the smallest unit of the asset. */
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
  /** The number of transactions whose fee no node told. */
  readonly unknownFees: number
}

/** Adds up what transactions spent. Pure, but for its own sums. */
export interface ReportSums {
  add(item: TransactionWithAttempts): void
  /** Returns the rows in the order of day, relayer, API key, network and asset; the native currency comes first. */
  rows(): ReportRow[]
}

/** Creates empty sums. */
export function createReportSums(readers: Readonly<Record<NetworkType, ContentReader>>): ReportSums {
  const sums = new Map<string, ReportRow>()
  return {
    add: (item) => {
      for (const row of rowsOf(item, readers)) {
        const key = keyOf(row)
        const before = sums.get(key)
        sums.set(key, before === undefined ? row : plus(before, row))
      }
    },
    rows: () => [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row),
  }
}

function rowsOf(
  item: TransactionWithAttempts,
  readers: Readonly<Record<NetworkType, ContentReader>>,
): ReportRow[] {
  const { transaction } = item
  const { confirmedAt, relayerId, requestedBy, request, network } = transaction
  const spending = spendingOf(item, readers[request.type])
  if (confirmedAt === undefined || spending === undefined) return []
  const common = {
    day: confirmedAt.toISOString().slice(0, 'yyyy-mm-dd'.length),
    relayerId,
    requestedBy,
    network: `${request.type}:${network}`,
  }
  const tokens = spending.amounts.filter(({ asset }) => asset !== NATIVE)
  return [
    {
      ...common,
      asset: NATIVE,
      value: spending.amounts.find(({ asset }) => asset === NATIVE)?.value ?? 0n,
      fees: spending.fee ?? 0n,
      transactions: 1,
      unknownValues: spending.isComplete ? 0 : 1,
      unknownFees: spending.fee === undefined ? 1 : 0,
    },
    ...tokens.map((amount) => ({
      ...common,
      ...amount,
      fees: 0n,
      transactions: 1,
      unknownValues: 0,
      unknownFees: 0,
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
  }
}
