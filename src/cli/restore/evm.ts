import type { Schemas } from '../../contract/operations.ts'
import { limitConcurrency } from '../../lib/concurrency/limit-concurrency.ts'
import type { Endpoint, Evidence } from './endpoint.ts'

/** A transaction of an account as a block has it. Numbers are in hexadecimal. */
export interface ChainTransaction {
  readonly hash: string
  readonly block: bigint
  readonly nonce: bigint
  readonly to: string | null
  readonly value: bigint
  readonly data: string
}

/** The fields of a record that the chain is compared with. */
export type Compared = Pick<Schemas['Transaction'], 'id' | 'created_at'> & {
  readonly to?: string | undefined
  readonly value?: string | undefined
  readonly data?: string | undefined
  readonly nonce?: bigint | number | undefined
}

/**
 * Compares the open transactions of an account with those that its chain has and the records do not explain.
 * A transaction of the chain stands for one of the records: that with its nonce, or else the oldest one with
 * its content. Pure.
 */
export function compare(
  open: readonly Compared[],
  unexplained: readonly ChainTransaction[],
  account: string,
): ReadonlyMap<string, Evidence> {
  const left = new Set(unexplained)
  const found = new Map<string, Evidence>()
  for (const record of open) {
    const same = [...left].find(({ nonce }) => record.nonce !== undefined && BigInt(record.nonce) === nonce)
    if (same === undefined) continue
    left.delete(same)
    found.set(record.id, evidenceOfNonce(record, same, account))
  }
  const unsigned = open.filter(({ id, nonce }) => !found.has(id) && nonce === undefined)
  for (const record of unsigned.toSorted(byAge)) {
    const same = [...left].find((one) => hasContent(one, record))
    if (same === undefined) {
      const seen = `None of the ${unexplained.length} transactions that the records do not explain has its content.`
      found.set(record.id, { included: false, seen })
      continue
    }
    left.delete(same)
    const seen = `Block ${same.block} has its receiver, amount and data, with nonce ${same.nonce}.`
    found.set(record.id, { included: true, hash: same.hash, seen })
  }
  return found
}

/** Sorts records, the oldest first. */
export function byAge(one: Aged, other: Aged): number {
  // The ids of those of one millisecond are in the order of their acceptance.
  return Date.parse(one.created_at) - Date.parse(other.created_at) || (one.id < other.id ? -1 : 1)
}

type Aged = Pick<Schemas['Transaction'], 'id' | 'created_at'>

function evidenceOfNonce(record: Compared, same: ChainTransaction, account: string): Evidence {
  const where = `Block ${same.block} has a transaction with its nonce`
  if (hasContent(same, record))
    return { included: true, hash: same.hash, seen: `${where}, and with its receiver, amount and data.` }
  const isNoop = same.to?.toLowerCase() === account.toLowerCase() && same.value === 0n && same.data === '0x'
  return isNoop
    ? { included: false, canceled: true, seen: `${where} that does nothing: it was canceled (${same.hash}).` }
    : {
        included: undefined,
        seen: `${where} and with other content: ${same.hash}. It may have been replaced.`,
      }
}

function hasContent(one: ChainTransaction, { to, value = '0', data = '0x' }: Compared): boolean {
  return (
    (one.to ?? '').toLowerCase() === (to ?? '').toLowerCase() &&
    one.value === BigInt(value) &&
    one.data.toLowerCase() === data.toLowerCase()
  )
}

/** Whole blocks are asked for side by side up to this number. More would meet the limits of hosted nodes. */
const BLOCKS_AT_ONCE = 4

interface Count {
  readonly block: bigint
  readonly nonce: bigint
}

/**
 * Finds the transactions of an account from a nonce on. The number of its transactions at earlier blocks
 * leads to the blocks that have them, so the endpoint needs the states since the backup.
 * @throws EndpointError if it does not have them
 */
export async function findSince(
  endpoint: Endpoint,
  { account, nonce }: { readonly account: string; readonly nonce: bigint },
): Promise<ChainTransaction[]> {
  const countAt = async (block: bigint): Promise<Count> => ({
    block,
    nonce: BigInt(await endpoint.call<string>('eth_getTransactionCount', [account, toHex(block)])),
  })
  const head = await countAt(BigInt(await endpoint.call<string>('eth_blockNumber', [])))
  if (head.nonce <= nonce) return []
  let first = head
  for (let step = 1n; first.nonce > nonce && first.block > 0n; step *= 2n)
    first = await countAt(first.block > step ? first.block - step : 0n)
  const blocks = await blocksBetween(first, head, countAt)
  const read = limitConcurrency(BLOCKS_AT_ONCE)
  const found = await Promise.all(blocks.map((block) => read(() => transactionsIn(endpoint, block, account))))
  return found.flat().filter((one) => one.nonce >= nonce)
}

/**
 * Returns the blocks that have transactions of the account. Halves the range while both ends have different
 * counts.
 */
async function blocksBetween(
  low: Count,
  high: Count,
  countAt: (block: bigint) => Promise<Count>,
): Promise<bigint[]> {
  if (low.nonce === high.nonce) return []
  if (high.block - low.block <= 1n) return [high.block]
  const middle = await countAt((low.block + high.block) / 2n)
  return [...(await blocksBetween(low, middle, countAt)), ...(await blocksBetween(middle, high, countAt))]
}

interface RpcTransaction {
  readonly hash: string
  readonly from: string
  readonly to: string | null
  readonly value: string
  readonly input: string
  readonly nonce: string
}

async function transactionsIn(
  endpoint: Endpoint,
  block: bigint,
  account: string,
): Promise<ChainTransaction[]> {
  const { transactions } = await endpoint.call<{ readonly transactions: readonly RpcTransaction[] }>(
    'eth_getBlockByNumber',
    [toHex(block), true],
  )
  return transactions
    .filter(({ from }) => from.toLowerCase() === account.toLowerCase())
    .map(({ hash, to, value, input, nonce }) => ({
      hash,
      block,
      nonce: BigInt(nonce),
      to,
      value: BigInt(value),
      data: input,
    }))
}

function toHex(block: bigint): string {
  return `0x${block.toString(16)}`
}
