import { CallError } from '../shared/call-error.ts'
import { normalized } from '../shared/fields.ts'
import { NodeError, rpcOf, type World } from '../shared/host.ts'
import { listTransactions } from '../shared/records.ts'
import { isEnded } from '../shared/transactions.ts'
import { type NetworkSettings, relayersOf, type Settings } from './config.ts'
import { receiptOf, transfersIn } from './evm/outcome.ts'
import type { PaymentRequest } from './wire.ts'

/** The query of `GET /payments`. */
export interface PaymentsCall {
  readonly query: Readonly<Record<string, readonly string[]>>
  /** The id of the API key that asks. */
  readonly caller: string
}

/** The payments of a payee in one asset of a network. */
export interface PaymentSum {
  readonly network: string
  readonly asset: string
  readonly payments: number
  /** In the smallest unit of the asset. */
  readonly amount: string
}

/** The payments that a payee got on a day. */
export interface PaymentReport {
  readonly payee: string
  readonly day: string
  /** The sums of final blocks. */
  readonly settled: readonly PaymentSum[]
  /**
   * The fees that the relayer paid for them, and for failures, in the smallest unit of each network's coin.
   */
  readonly fees: readonly { readonly network: string; readonly amount: string }[]
  /** Accepted, and not final yet: ask again. */
  readonly waiting: number
  /** Ended without a payment by the relayer; someone else may have sent it. */
  readonly failed: number
  /** Final, but its fee is not known. */
  readonly unknown_fees: number
}

/** Names a payment by its payee in the records of the service, so that a search finds all of them. */
function referenceTo(payee: string): string {
  return `x402:${normalized(payee)}`
}

/** The most characters of a description that the service stores. */
const MAX_DESCRIPTION = 1024

/**
 * Names the transaction of a payment in records, events and webhooks: by its payee, and by what is paid for,
 * as the payer says. What fills or claims a channel pays no one yet, and has another name.
 */
export function namesOf(
  { requirements, resource = '' }: Pick<PaymentRequest, 'requirements' | 'resource'>,
  { isOfChannel }: { readonly isOfChannel?: boolean },
) {
  const description = URL.parse(resource)?.href.slice(0, MAX_DESCRIPTION)
  const { payTo } = requirements
  return {
    reference: isOfChannel ? `x402-channel:${normalized(payTo)}` : referenceTo(payTo),
    ...(description !== undefined && { description }),
  }
}

interface PaymentRecord {
  readonly status: string
  readonly relayer_id: string
  readonly created_at: string
  readonly hash?: string
  readonly transfers?: readonly Transfer[]
  /** True if its block tells of more. */
  readonly transfers_truncated?: boolean
  readonly receipt?: { readonly fee?: string | number; readonly fee_charged?: string | number }
}

interface Transfer {
  readonly to?: string
  readonly asset: string
  readonly amount: string
  readonly expected?: boolean
}

/**
 * Answers `GET /payments?payee=…&day=…`: what a payee got on a day (UTC), counted by the acceptance of the
 * payments, as the blocks tell it. It reads the records of the service and keeps none of its own.
 * @throws CallError for a caller who may not read it, and for wrong parameters
 */
export async function payments(
  { query, caller }: PaymentsCall,
  settings: Settings,
  world: World,
): Promise<PaymentReport> {
  const [payee, day] = [normalized(oneOf(query, 'payee')), oneOf(query, 'day')]
  const begin = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(begin)) throw new CallError(400, 'invalid_day', 'day: expected a date such as 2026-11-30.')
  if (settings.readers.get(caller)?.has(payee) !== true)
    throw new CallError(
      403,
      'payee_not_readable',
      'payee: this API key may not read its payments. Add it to "readers" of the plugin’s config.',
    )
  const networks = new Map(
    [...settings.networks.values()].flatMap((each) => relayersOf(each).map((id) => [id, each])),
  )
  const records: PaymentRecord[] = []
  const filters = {
    reference: referenceTo(payee),
    created_after: new Date(begin).toISOString(),
    created_before: new Date(begin + DAY_MS).toISOString(),
  }
  for await (const record of listTransactions<PaymentRecord>(filters, world.api)) {
    const network = networks.get(record.relayer_id)
    if (network !== undefined) records.push(await withTokensOf(network, record, world))
  }
  return { payee, day, ...sumOf(records, payee, networks) }
}

/**
 * Reads the transfers of the listed tokens from the block of a record that has not all of them: code of the
 * payer may have told of a hundred others first. Where no node has the block, the record stays as it is.
 */
async function withTokensOf(
  { assets, family }: NetworkSettings,
  record: PaymentRecord,
  world: World,
): Promise<PaymentRecord> {
  const { hash, relayer_id, transfers_truncated: isCut } = record
  if (isCut !== true || hash === undefined || assets === undefined || family !== 'eip155') return record
  const receipt = await receiptOf(hash, rpcOf(world, relayer_id)).catch((error: unknown) => {
    if (error instanceof NodeError) return undefined
    throw error
  })
  if (receipt === undefined) return record
  const transfers = [...assets].flatMap((asset) =>
    transfersIn(asset as `0x${string}`, receipt.logs)
      .filter(({ value }) => value > 0n)
      .map(({ to, value }) => ({ to, asset, amount: value.toString() })),
  )
  return { ...record, transfers }
}

function oneOf(query: PaymentsCall['query'], name: string): string {
  const [value, ...others] = query[name] ?? []
  if (value !== undefined && value !== '' && others.length === 0) return value
  throw new CallError(400, `${name}_required`, `${name}: is required once, as ?payee=…&day=2026-11-30.`)
}

const DAY_MS = 86_400_000

function sumOf(
  records: readonly PaymentRecord[],
  payee: string,
  networks: ReadonlyMap<string, Pick<NetworkSettings, 'network'>>,
): Omit<PaymentReport, 'payee' | 'day'> {
  const sums = new Map<string, PaymentSum>()
  const fees = new Map<string, bigint>()
  let [waiting, failed, unknown] = [0, 0, 0]
  for (const { status, relayer_id, transfers = [], receipt } of records) {
    const { network = '' } = networks.get(relayer_id) ?? {}
    const isFinal = status === 'confirmed' || isEnded(status)
    if (!isFinal) {
      waiting += 1
      continue
    }
    const fee = receipt?.fee ?? receipt?.fee_charged
    if (fee !== undefined) fees.set(network, (fees.get(network) ?? 0n) + BigInt(fee))
    else if (receipt !== undefined) unknown += 1
    // Only what the block tells is a payment; a failed one tells nothing.
    const paid = status === 'confirmed' ? transfers.filter((each) => isPayment(each, payee)) : []
    if (paid.length === 0) failed += 1
    for (const { asset, amount } of paid) {
      const key = JSON.stringify([network, asset])
      const known = sums.get(key) ?? { network, asset, payments: 0, amount: '0' }
      sums.set(key, {
        ...known,
        payments: known.payments + 1,
        amount: (BigInt(known.amount) + BigInt(amount)).toString(),
      })
    }
  }
  return {
    settled: [...sums.values()],
    fees: [...fees].map(([network, amount]) => ({ network, amount: amount.toString() })),
    waiting,
    failed,
    unknown_fees: unknown,
  }
}

function isPayment({ to, asset, expected }: Transfer, payee: string): boolean {
  return expected !== true && asset !== 'native' && to !== undefined && normalized(to) === payee
}
