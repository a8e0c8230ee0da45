import { keccak256 } from 'viem'
import type {
  Answer,
  BroadcastResult,
  ComparedBlock,
  Head,
  PriceComparison,
  Receipt,
  ReceiptAnswer,
} from '../../src/chains/answer.ts'
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts'
import type { EvmChain } from '../../src/chains/evm/types.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createLogger } from '../../src/log.ts'
import type { EvmNetwork } from '../../src/networks/network.ts'
import { combineReceipts } from './combine-receipts.ts'

/** A network without endpoints: the work of the chain itself (signing, cost, speeds) is real, and no node answers. */
export const SILENT_NETWORK: EvmNetwork = {
  type: 'evm',
  name: 'testnet',
  chainId: 31_337,
  symbol: 'ETH',
  txFeeCap: 10n ** 18n,
  isTestnet: true,
  features: ['eip1559'],
  mempool: true,
  averageBlocktimeMs: 1_000,
  requiredConfirmations: 2,
  finality: 'depth',
  rpcUrls: [],
}

/** The answers of the nodes of a network, for answers that a real node cannot be made to give. A test can change each of them. */
export interface StubChain {
  head: Answer<Head>
  nonce: Answer<bigint>
  balance: Answer<bigint>
  /** What every draft is compared with. */
  price: Answer<PriceComparison>
  /** By height; a height that is not here is unknown. */
  readonly blocks: Map<bigint, string>
  /** By hash; a hash that is not here has no receipt. */
  readonly receipts: Map<string, ReceiptAnswer>
  /** Gives the answer of a node to bytes with this hash. */
  answerBroadcast: (hash: string) => BroadcastResult
  /** The hashes of all broadcast bytes, in order. */
  readonly broadcasted: string[]
  /** The number of receipts that were requested. */
  receiptsAsked: number
  /** Changes single answers of the chain, over everything above. */
  override: { [Key in keyof EvmChain]?: EvmChain[Key] | undefined }
}

const UNKNOWN = { kind: 'unknown', detail: 'the node does not answer' } as const

/** A block that came after the draft was priced, with room for it. */
export const LEFT_OUT: ComparedBlock = { number: 100n, isNew: true, leftOut: 'room' }

/**
 * Creates a network at block 100 that accepts everything, with plenty of money on every account. Its blocks leave out whatever waits, although
 * they have room.
 */
export function createStubChain(): StubChain {
  return {
    head: headAt(100n),
    nonce: { kind: 'ok', value: 0n },
    balance: { kind: 'ok', value: 10n ** 20n },
    price: { kind: 'ok', value: { bid: 100n, market: 100n, newest: LEFT_OUT } },
    blocks: new Map(),
    receipts: new Map(),
    answerBroadcast: () => ({ kind: 'accepted' }),
    broadcasted: [],
    receiptsAsked: 0,
    override: {},
  }
}

export function headAt(number: bigint): Answer<Head> {
  return { kind: 'ok', value: { number, hash: `0xhead${number}` } }
}

/** Puts a hash into a block of the stub chain. */
export function include(stub: StubChain, hash: string, change: Partial<Receipt> = {}): void {
  const blockNumber = change.blockNumber ?? 100n
  const blockHash = change.blockHash ?? `0xblock${blockNumber}`
  const receipt = { hash, blockNumber, blockHash, success: true, gasUsed: 21_000n, ...change }
  stub.receipts.set(hash, { kind: 'included', receipt })
  stub.blocks.set(blockNumber, blockHash)
}

/** The stub chain behind the `Chain` interface. Prices are fixed: 100 wei and a tip of 10. */
export function chainOf(stub: StubChain): EvmChain {
  const log = createLogger({ level: 'silent' })
  const real = createEvmChain({ network: SILENT_NETWORK, rpcTimeoutMs: 100, clock: systemClock, log })
  const fees = { kind: 'eip1559', maxFeePerGas: 100n, maxPriorityFeePerGas: 10n } as const
  const chain: EvmChain = {
    ...real,
    prepare: async ({ to, value, data = '0x', gasLimit = 21_000n }) => {
      const content = { type: 'evm', value, data, gasLimit, fees } as const
      return { kind: 'ok', value: { draft: to === undefined ? content : { to, ...content }, logs: [] } }
    },
    head: async () => stub.head,
    sequencing: { nonces: async (addresses) => addresses.map(() => stub.nonce) },
    balance: async () => stub.balance,
    balances: async (addresses) => addresses.map(() => stub.balance),
    comparePrice: async () => stub.price,
    recentBalance: async () => stub.balance,
    blockFinality: {
      blockHash: async (number) => {
        const hash = stub.blocks.get(number)
        return hash === undefined ? UNKNOWN : { kind: 'ok', value: hash }
      },
    },
    receipts: async (hashes) => {
      stub.receiptsAsked += hashes.length
      return hashes.map((hash) => stub.receipts.get(hash) ?? { kind: 'none' })
    },
    proveInclusion: async (attempts) => {
      const hashes = attempts.map(({ signed }) => signed.hash)
      return combineReceipts(
        attempts,
        hashes.map((hash) => stub.receipts.get(hash) ?? { kind: 'none' }),
      )
    },
    broadcast: async (raws) => {
      const hashes = raws.map((raw) => keccak256(raw))
      stub.broadcasted.push(...hashes)
      return hashes.map((hash) => stub.answerBroadcast(hash))
    },
  }
  // Properties are read at each call, so that a test can change them later.
  return new Proxy(chain, {
    get: (target, key: keyof EvmChain) => (key in stub.override ? stub.override[key] : target[key]),
  })
}
