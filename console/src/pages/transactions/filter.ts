import type { RelayerEvent, Schemas } from '../../../../clients/typescript/src/index.ts'
import { type Currency, currencyOf } from '../../format/amounts.ts'
import type { Route } from '../../routing/routes.ts'

/** The states of a transaction, in the order of its life. */
export const STATUSES = [
  'pending',
  'sent',
  'submitted',
  'mined',
  'confirmed',
  'failed',
  'canceled',
  'expired',
] as const satisfies readonly Schemas['TransactionStatus'][]

/** The types of networks. */
export const NETWORK_TYPES = ['evm', 'stellar', 'solana'] as const satisfies readonly Schemas['NetworkType'][]

/** Which transactions a list has, in the words of the API. An absent condition does not count. */
export interface TransactionFilter {
  readonly status?: (typeof STATUSES)[number]
  readonly relayer_id?: string
  readonly network_type?: (typeof NETWORK_TYPES)[number]
  /** Who receives, also a token, or is called. */
  readonly to?: string
  readonly asset?: string
  /** In the smallest unit of the asset. */
  readonly min_amount?: string
  readonly max_amount?: string
  readonly reference?: string
  /** The API key that sent it. */
  readonly requested_by?: string
  readonly user_id?: string
  readonly created_after?: string
  readonly created_before?: string
}

/** The parameters of the address that are texts of the API, by their names there. */
const TEXTS = {
  relayer_id: 'relayer',
  to: 'to',
  asset: 'asset',
  reference: 'reference',
  requested_by: 'key',
  user_id: 'user',
} as const satisfies Partial<Record<keyof TransactionFilter, string>>

/** The parameters that belong to the filter; a saved one has these. */
export const FILTER_PARAMETERS: readonly string[] = [
  ...Object.values(TEXTS),
  'status',
  'type',
  'min',
  'max',
  'from',
  'until',
]

/** Reads the filter of a route. A status, a type, an amount or a day that does not exist does not count. */
export function readFilter({ query }: Route): TransactionFilter {
  const status = STATUSES.find((known) => known === query.status)
  const type = NETWORK_TYPES.find((known) => known === query.type)
  const texts = Object.entries(TEXTS).flatMap(([name, parameter]) => {
    const text = query[parameter]
    return text ? [[name, text]] : []
  })
  const [from, until] = [startOf(query.from), startOf(query.until, 1)]
  return {
    ...(Object.fromEntries(texts) as TransactionFilter),
    ...(status && { status }),
    ...(type && { network_type: type }),
    ...(query.asset && isAmount(query.min) && { min_amount: query.min }),
    ...(query.asset && isAmount(query.max) && { max_amount: query.max }),
    ...(from && { created_after: from }),
    ...(until && { created_before: until }),
  }
}

function isAmount(text: string | undefined): text is string {
  return text !== undefined && /^(0|[1-9]\d{0,77})$/.test(text)
}

/** Returns the beginning of a day of the reader's time zone, or of a later one. */
function startOf(day: string | undefined, later = 0): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? []
  if (year === undefined) return undefined
  const start = new Date(Number(year), Number(month) - 1, Number(date) + later)
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString()
}

interface Asked {
  readonly asset: string | undefined
  readonly type: TransactionFilter['network_type'] | undefined
  /** Those that the operator names. */
  readonly tokens: readonly Schemas['Token'][]
}

/**
 * Returns the unit in which a person writes amounts of an asset: its smallest one where nothing makes its
 * decimals certain.
 */
export function unitOf({ asset, type, tokens }: Asked): Currency {
  if (asset === 'native' && type !== undefined) return currencyOf(type)
  const named = tokens.filter(({ address }) => address.toLowerCase() === asset?.toLowerCase())
  const [first] = named
  const isCertain = first && named.every(({ decimals }) => decimals === first.decimals)
  return isCertain ? first : SMALLEST_UNIT
}

const SMALLEST_UNIT: Currency = { symbol: 'smallest unit', decimals: 0 }

/** Writes a day as the address has it: that of this time in the reader's time zone. */
export function dayOf(time: Date): string {
  const [month, date] = [time.getMonth() + 1, time.getDate()].map((part) => String(part).padStart(2, '0'))
  return `${time.getFullYear()}-${month}-${date}`
}

/** Tells whether a list with numbered pages has this filter: that of one relayer, by status alone. */
export function isOfRelayer({ relayer_id, status: _, ...others }: TransactionFilter): boolean {
  return relayer_id !== undefined && Object.keys(others).length === 0
}

/**
 * Tells whether a list may look otherwise after an event. The status does not count: a transaction that
 * leaves the list has another one by then.
 */
export function mayChange(
  { relayer_id, network_type, to, asset, reference }: TransactionFilter,
  { type, payload }: RelayerEvent,
): boolean {
  if (type !== 'transaction_update' || payload.payload_type !== 'transaction') return false
  const { transfers = [] } = payload
  const receivers = [
    payload.network_type === 'evm' ? payload.to : undefined,
    ...transfers.map((transfer) => transfer.to),
  ]
  const isSame = (wanted: string | undefined, had: readonly (string | undefined)[]) =>
    wanted === undefined || had.some((one) => one?.toLowerCase() === wanted.toLowerCase())
  return (
    isSame(relayer_id, [payload.relayer_id]) &&
    isSame(network_type, [payload.network_type]) &&
    isSame(to, receivers) &&
    isSame(
      asset,
      transfers.map((transfer) => transfer.asset),
    ) &&
    (reference === undefined || payload.reference === reference)
  )
}
