import { type Hex, keccak256, parseTransaction } from 'viem'
import type { Anvil } from '../../../test/support/anvil.ts'
import type { WireEntry } from '../../../test/support/forked.ts'
import type { Transaction } from '../../../test/support/service.ts'
import type { Evidence } from '../check-promises.ts'

/** The service raises no fee above this many times the market by itself (`fee_limit_multiplier`). */
const MULTIPLIER = 5n

/** The highest tip that a pool of these histories demands, in wei (`min_tip`). */
const DEMANDED = 4_000_000_000n

/** A speed asks for at most twice what a node suggests. */
const SPEED_FACTOR = 2n

/**
 * The service signs with one of the newest prices that it was told: others may have been told since it read its own. Each reading tells three
 * prices.
 */
const NEWEST = 30

/** Attempts that the service makes by itself. The others have a price that a caller named or asked for. */
const OWN_KINDS: readonly string[] = ['speed_up', 'expire', 'abandon', 'gap_filler']
const OWN_NOOPS: readonly string[] = ['expire', 'abandon', 'gap_filler']

/** What nodes told the service of prices last, in wei per gas. */
interface Told {
  readonly baseFee: bigint
  /** The mean of the highest tips that recent blocks were paid; 0 where they were paid none. */
  readonly paid: bigint
  readonly gasPrice: bigint
  readonly suggested: bigint
}

const NOTHING: Told = { baseFee: 0n, paid: 0n, gasPrice: 0n, suggested: 0n }

/** The highest tip of a raise at these prices. */
function mostTipAt({ baseFee, paid, gasPrice, suggested }: Told): bigint {
  const market = [paid, suggested * SPEED_FACTOR, (gasPrice - baseFee) * SPEED_FACTOR].reduce(larger)
  return MULTIPLIER * (baseFee + market) - baseFee
}

/** Signed bytes when they first left the service. */
interface Heard {
  readonly hash: string
  readonly nonce: number
  readonly tip: bigint
  /** The highest tip that any price told until then allows to a raise. */
  readonly mostTip: bigint
  /** The newest block that any node had told. */
  readonly head: number
}

/** Listens to what nodes tell of prices and blocks, and to what the service offers, and compares both with what was paid (I13). */
export interface FeeWatch {
  /** A call of the service, and what it was told. */
  tap(call: WireEntry, reply?: WireEntry): void
  heard(raw: string): void
  /** The number of broadcasts so far, of whatever bytes. */
  broadcasts(): number
  /** Forgets everything: another history begins. */
  begin(): void
  /** What was overpaid, and raised without a block, in the records of one account. */
  problems(anvil: Anvil, evidence: Evidence): Promise<string[]>
}

/** Creates a watch that has heard nothing. */
export function createFeeWatch(): FeeWatch {
  let told: Told[] = []
  let head = 0
  let broadcasts = 0
  let heardOf = new Map<string, Heard>()

  function heard(raw: string): void {
    broadcasts += 1
    const hash = keccak256(raw as Hex)
    if (heardOf.has(hash)) return
    const { nonce = 0, gasPrice, maxPriorityFeePerGas } = parseTransaction(raw as Hex)
    const tip = gasPrice ?? maxPriorityFeePerGas ?? 0n
    const mostTip = told.slice(-NEWEST).map(mostTipAt).reduce(larger, DEMANDED)
    heardOf.set(hash, { hash, nonce, tip, mostTip, head })
  }

  return {
    heard,
    broadcasts: () => broadcasts,
    tap: ({ method, params }, reply) => {
      if (reply === undefined) {
        if (method === 'eth_sendRawTransaction') heard(params?.[0] as string)
        return
      }
      const { result } = reply
      const change = changeIn(method, result)
      if (change !== undefined) told.push({ ...(told.at(-1) ?? NOTHING), ...change })
      head = Math.max(head, headIn(method, params, result))
    },
    begin: () => {
      told = []
      head = 0
      heardOf = new Map()
    },
    problems: async (anvil, { records, included }) => {
      const attempts = records.flatMap((record) => record.attempts.map((attempt) => ({ record, attempt })))
      const kindOf = new Map(attempts.map(({ attempt }) => [attempt.hash, attempt.kind]))
      const hashes = included
        .map(({ hash }) => hash)
        .filter((hash) => OWN_KINDS.includes(kindOf.get(hash) ?? ''))
      let overpaid = 0n
      const worst: string[] = []
      for (const hash of hashes) {
        const one = heardOf.get(hash)
        if (one === undefined) continue
        const earlier = earlierTips(records, hash, heardOf)
        const allowed = OWN_NOOPS.includes(kindOf.get(hash) ?? '')
          ? larger(one.mostTip, bumped(earlier))
          : one.mostTip
        const { tip, gasUsed } = await paidFor(anvil, hash)
        if (tip <= allowed) continue
        overpaid += (tip - allowed) * gasUsed
        worst.push(`${kindOf.get(hash)} ${hash} paid a tip of ${tip}, and ${allowed} was the most`)
      }
      const paid = overpaid === 0n ? [] : [`${overpaid} wei were overpaid: ${worst.join('; ')}`]
      return [...paid, ...records.flatMap((record) => raisedWithoutBlock(record, heardOf))]
    },
  }
}

function changeIn(method: string | undefined, result: unknown): Partial<Told> | undefined {
  if (method === 'eth_gasPrice') return { gasPrice: quantity(result) }
  if (method === 'eth_maxPriorityFeePerGas') return { suggested: quantity(result) }
  if (method !== 'eth_feeHistory') return undefined
  const { baseFeePerGas = [], reward } = (result ?? {}) as History
  const tips = (reward ?? []).map((row) => quantity(row.at(-1))).filter((tip) => tip > 0n)
  const paid = tips.length === 0 ? 0n : tips.reduce((sum, tip) => sum + tip) / BigInt(tips.length)
  return { baseFee: quantity(baseFeePerGas.at(-1)), paid }
}

interface History {
  readonly baseFeePerGas?: readonly string[]
  readonly reward?: readonly (readonly string[])[] | null
}

/** A transaction is raised at most once for each block that nodes told after its first bytes, and once for the block before. */
function raisedWithoutBlock({ id, attempts }: Transaction, heardOf: ReadonlyMap<string, Heard>): string[] {
  const known = attempts.flatMap(({ hash, kind }) => {
    const one = heardOf.get(hash)
    return one === undefined ? [] : [{ kind, head: one.head }]
  })
  const [first] = known
  const raises = known.filter(({ kind }) => kind === 'speed_up')
  const last = raises.at(-1)
  if (first === undefined || last === undefined) return []
  const most = last.head - first.head + 1
  return raises.length <= most
    ? []
    : [`${id} was raised ${raises.length} times within ${last.head - first.head} new blocks`]
}

/** The highest tip of the attempts of this transaction before the one with this hash. */
function earlierTips(
  records: readonly Transaction[],
  hash: string,
  heardOf: ReadonlyMap<string, Heard>,
): bigint {
  const owner = records.find(({ attempts }) => attempts.some((attempt) => attempt.hash === hash))
  const attempts = owner?.attempts ?? []
  const before = attempts.slice(
    0,
    attempts.findIndex((attempt) => attempt.hash === hash),
  )
  return before.map((attempt) => heardOf.get(attempt.hash)?.tip ?? 0n).reduce(larger, 0n)
}

async function paidFor(anvil: Anvil, hash: string): Promise<{ tip: bigint; gasUsed: bigint }> {
  const receipt = await anvil.rpc<Record<'effectiveGasPrice' | 'gasUsed' | 'blockNumber', string>>(
    'eth_getTransactionReceipt',
    [hash],
  )
  const block = await anvil.rpc<{ baseFeePerGas: string }>('eth_getBlockByNumber', [
    receipt.blockNumber,
    false,
  ])
  return {
    tip: BigInt(receipt.effectiveGasPrice) - BigInt(block.baseFeePerGas),
    gasUsed: BigInt(receipt.gasUsed),
  }
}

function headIn(method: string | undefined, params: WireEntry['params'], result: unknown): number {
  if (method === 'eth_blockNumber') return Number(quantity(result))
  if (method !== 'eth_getBlockByNumber' || params?.[0] !== 'latest') return 0
  return Number(quantity((result as { number?: string } | null)?.number))
}

function quantity(value: unknown): bigint {
  return typeof value === 'string' && value.startsWith('0x') ? BigInt(value) : 0n
}

/** 110 %, rounded up, and one wei more where that is less. */
function bumped(price: bigint): bigint {
  return (price * 110n + 99n) / 100n + 1n
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
