import { type Anvil, startAnvil } from './anvil.ts'
import { type Service, type ServiceOptions, type Story, startService, storyOf } from './service.ts'
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
      await until(
        async () => {
          await mine()
          return openCount(service)
        },
        (open) => open === 0,
      )
    },
    minedHash: (from, nonce) => findMined(anvil, { from, nonce: BigInt(nonce) }),
    stop: async () => {
      await service.stop()
      await anvil.stop()
    },
  }
}

/** One state after the other, in the order of a life: a record that moves on meanwhile is counted in a later state, never in none. */
async function openCount(service: Service): Promise<number> {
  let count = 0
  for (const status of ['pending', 'sent', 'submitted', 'mined']) {
    const { body } = await service.api<unknown>(
      'GET',
      `/relayers/main/transactions?status=${status}&per_page=0`,
    )
    // A failed request does not tell the number.
    count += body.pagination?.total_items ?? 1
  }
  return count
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
