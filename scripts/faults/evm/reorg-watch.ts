import { type Hex, keccak256 } from 'viem'
import type { Anvil } from '../../../test/support/anvil.ts'
import type { WireEntry } from '../../../test/support/forked.ts'
import type { Evidence } from '../check-promises.ts'
import type { TestBed } from '../test-bed.ts'
import type { EvmIncluded } from './chain-walk.ts'
import type { Reorganisations } from './environment.ts'

/** Creates what histories of deep reorganisations have besides; nothing was signed and nothing was lost. */
export function createReorganisations(): Reorganisations {
  return { signed: new Map(), lost: new Map(), lostInAll: 0 }
}

/**
 * Keeps all bytes that the service offers to a node, but those that every node has refused: no pool has them, so no chain can include them, and the
 * caller may have been told so.
 */
export function tapSigned({ signed }: Reorganisations): (call: WireEntry, reply?: WireEntry) => void {
  const taken = new Set<string>()
  return ({ method, params }, reply) => {
    if (method !== 'eth_sendRawTransaction') return
    const raw = params?.[0] as Hex
    const hash = keccak256(raw)
    if (reply?.result !== undefined) taken.add(hash)
    if (reply === undefined || taken.has(hash)) signed.set(hash, raw)
    else if (!ALREADY_THERE.test(JSON.stringify(reply.error) ?? '')) signed.delete(hash)
  }
}

/** What anvil says of bytes that its pool has. */
const ALREADY_THERE = /already (imported|known)/

/** What a relayer has spent of the native currency, in wei, and how many transactions. */
export interface Usage {
  readonly value: bigint
  readonly fees: bigint
  readonly count: bigint
}

interface WireUsage {
  readonly spent: readonly { readonly month: { value: string; fees: string; count: number } }[]
}

/** Reads what the budget of a relayer counts. */
export async function usageOf({ api, testChain }: TestBed, account: number): Promise<Usage> {
  const { body } = await api<WireUsage>('GET', `/relayers/${testChain.relayers[account]}/usage`)
  const { value = 0, fees = 0, count = 0 } = body.data.spent[0]?.month ?? {}
  return { value: BigInt(value), fees: BigInt(fees), count: BigInt(count) }
}

/** Transactions whose final block is gone, and of which no event tells that. */
export async function untold({ lost }: Reorganisations, { api }: TestBed): Promise<string[]> {
  const found = await Promise.all(
    [...lost].map(async ([id, was]) => {
      const { body } = await api<unknown[]>(
        'GET',
        `/events?type=transaction_reorganized&transaction_id=${id}&limit=1`,
      )
      return body.data.length > 0 ? [] : [`${id} was ${was}, lost its block, and no event tells it`]
    }),
  )
  return found.flat()
}

interface Counted {
  readonly before: Usage
  readonly after: Usage
  readonly chain: ReadonlyMap<string, EvmIncluded>
}

/**
 * What the budget of one relayer counts otherwise than the chain, from one moment to another. Where an older version was included, the record
 * no longer has its content, and the highest value of all versions counts.
 */
export async function miscounted(
  anvil: Anvil,
  { ledger, records, included }: Evidence,
  { before, after, chain }: Counted,
): Promise<string[]> {
  const [least, most] = [
    { value: 0n, fees: 0n, count: 0n },
    { value: 0n, fees: 0n, count: 0n },
  ]
  for (const { hash, success } of included) {
    const receipt = await anvil.rpc<Record<'effectiveGasPrice' | 'gasUsed', string>>(
      'eth_getTransactionReceipt',
      [hash],
    )
    const owner = records.find(({ attempts }) => attempts.some((attempt) => attempt.hash === hash))
    const paid = success ? (chain.get(hash)?.value ?? 0n) : 0n
    const versions = ledger.asks.flatMap(({ id, content }) =>
      id !== undefined && id === owner?.id && content !== undefined ? [content.mark] : [],
    )
    const [highest = 0n] = paid === 0n ? [] : [paid, ...versions.map(valueIn)].sort((a, b) => Number(b - a))
    for (const [sum, value] of [
      [least, paid],
      [most, highest],
    ] as const) {
      sum.value += value
      sum.fees += BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
      sum.count += 1n
    }
  }
  return (['value', 'fees', 'count'] as const).flatMap((what) => {
    const counted = after[what] - before[what]
    if (counted >= least[what] && counted <= most[what]) return []
    return [
      `the budget of account ${records[0]?.relayer_id} counts ${what} ${counted}, and the chain ${least[what]}${most[what] > least[what] ? ` to ${most[what]}` : ''}`,
    ]
  })
}

/** The value of a payment of these histories is in its receiver (`createPayments`). */
function valueIn(mark: string): bigint {
  return BigInt(mark) - 0x1000_0000n
}
