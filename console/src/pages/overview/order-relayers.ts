import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import type { Order } from '../../parts/order.ts'
import { queueOf, type RelayerHealth } from './relayer-health.ts'

/** A row of the overview. */
export interface RelayerRow {
  readonly relayer: Schemas['Relayer']
  readonly status: Schemas['RelayerStatus'] | undefined
  readonly health: RelayerHealth
}

/** What is worst comes first. */
const BY_WORD: readonly RelayerHealth['word'][] = ['disabled', 'unknown', 'slow', 'paused', '…', 'healthy']

type Compare = (one: RelayerRow, other: RelayerRow) => number

const COMPARE: Readonly<Record<string, Compare>> = {
  Relayer: (one, other) => one.relayer.name.localeCompare(other.relayer.name),
  Network: (one, other) => one.relayer.network.localeCompare(other.relayer.network),
  Balance: (one, other) => compare(balanceOf(one), balanceOf(other)),
  Queue: (one, other) => compare(waitingIn(one), waitingIn(other)),
  Oldest: (one, other) => compare(ageOf(one), ageOf(other)),
  Health: (one, other) => BY_WORD.indexOf(one.health.word) - BY_WORD.indexOf(other.health.word),
}

/** Orders rows by a column; rows that are equal in it keep the order of the service. */
export function orderRelayers(rows: readonly RelayerRow[], { by, isDescending }: Order): RelayerRow[] {
  const compareRows = COMPARE[by] ?? (() => 0)
  return rows.toSorted((one, other) => (isDescending ? compareRows(other, one) : compareRows(one, other)))
}

/** Returns true if a row has the text in its name, id, network or address. */
export function fitsFilter({ relayer }: RelayerRow, text: string): boolean {
  const wanted = text.trim().toLowerCase()
  return [relayer.name, relayer.id, relayer.network, relayer.address].some((value) =>
    value.toLowerCase().includes(wanted),
  )
}

const balanceOf = ({ status }: RelayerRow) => BigInt(status?.balance ?? -1)
const waitingIn = ({ status }: RelayerRow) => BigInt(queueOf(status) ?? -1)
/** An older timestamp is a greater age; none is the least. */
const ageOf = ({ status }: RelayerRow) =>
  -BigInt(Date.parse(status?.oldest_pending_transaction_timestamp ?? '9999-01-01'))

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other)
}
