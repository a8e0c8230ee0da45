import { type Anvil, startAnvil } from './anvil.ts'
import {
  type Service,
  type ServiceOptions,
  type Story,
  startService,
  storyOf,
  type Transaction,
} from './service.ts'
import { until } from './until.ts'

/** A service on an anvil that mines only when told, and the words that stories about it need. */
export interface Scenario extends Story {
  readonly anvil: Anvil
  mine(blocks?: number): Promise<void>
  /** Mines until nothing of `main` is open, so that the next story starts with an empty pool. */
  settle(): Promise<void>
  /** Hash of the transaction of this account and nonce that the chain includes. */
  minedHash(from: string, nonce: bigint | number): Promise<string | undefined>
  stop(): Promise<void>
}

export async function startScenario(options: Omit<ServiceOptions, 'rpcUrls'> = {}): Promise<Scenario> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  const service = await startService({ ...options, rpcUrls: [anvil.url] })
  return scenarioOf(anvil, service)
}

/** The same words for a service that was started otherwise. */
export function scenarioOf(anvil: Anvil, service: Service): Scenario {
  const mine = async (blocks = 1) => {
    for (let count = 0; count < blocks; count += 1) await anvil.rpc('evm_mine')
  }
  return {
    ...storyOf(service),
    anvil,
    mine,
    settle: async () => {
      try {
        await until(
          async () => {
            await mine()
            return countOpen(service)
          },
          (open) => Object.values(open).every((count) => count === 0),
        )
      } catch (error) {
        throw new Error(await explainOpen(service), { cause: error })
      }
    },
    minedHash: (from, nonce) => findMined(anvil, { from, nonce: BigInt(nonce) }),
    stop: async () => {
      await service.stop()
      await anvil.stop()
    },
  }
}

/** The states before the final ones, in the order of a life. */
const OPEN = ['pending', 'sent', 'submitted', 'mined'] as const

type OpenCounts = Readonly<Record<(typeof OPEN)[number], number>>

/** One state after the other: a record that moves on meanwhile is counted in a later state, never in none. */
async function countOpen(service: Service): Promise<OpenCounts> {
  const counts = { pending: 0, sent: 0, submitted: 0, mined: 0 }
  for (const status of OPEN) {
    const { body } = await service.api<unknown>('GET', `${TRANSACTIONS}?status=${status}&per_page=0`)
    // A failed request does not tell the number.
    counts[status] = body.pagination?.total_items ?? 1
  }
  return counts
}

const TRANSACTIONS = '/relayers/main/transactions'

/** The oldest transaction that is open, and why it is. */
async function explainOpen(service: Service): Promise<string> {
  const counts = await countOpen(service)
  const told: unknown[] = [counts]
  for (const status of OPEN) {
    if (counts[status] === 0) continue
    const path = `${TRANSACTIONS}?status=${status}&per_page=1&page=${counts[status]}`
    const { body } = await service.api<Transaction[]>('GET', path)
    const [oldest] = body.data
    told.push(oldest)
    if (oldest === undefined) continue
    told.push((await service.api<unknown>('GET', `${TRANSACTIONS}/${oldest.id}/diagnosis`)).body.data)
  }
  return `not settled: ${JSON.stringify(told, undefined, 1)}`
}

interface ChainTransaction {
  readonly hash: string
  readonly from: string
  readonly nonce: string
}

async function findMined(
  anvil: Anvil,
  { from, nonce }: { from: string; nonce: bigint },
): Promise<string | undefined> {
  const head = Number(await anvil.rpc<string>('eth_blockNumber'))
  for (let height = head; height > 0; height -= 1) {
    const block = await anvil.rpc<{ transactions: ChainTransaction[] }>('eth_getBlockByNumber', [
      `0x${height.toString(16)}`,
      true,
    ])
    const found = block.transactions.find(
      (transaction) =>
        transaction.from.toLowerCase() === from.toLowerCase() && BigInt(transaction.nonce) === nonce,
    )
    if (found) return found.hash
  }
  return undefined
}
