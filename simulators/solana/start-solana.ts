import { type Address, address } from '@solana/kit'
import { INVALID_REQUEST, type JsonRpcServer, RpcFault, startJsonRpcServer } from '../json-rpc.ts'
import type { AppliedTransaction, Block } from './chain/block.ts'
import { accountAt, type Chain, createChain, type Market, type Rules } from './chain/chain.ts'
import type { Pending } from './chain/pool.ts'
import { fork, makePast, produceBlock, skipSlot } from './chain/produce.ts'
import { createLedger, type Ledger, type LedgerOptions, type SnapshotMaker } from './ledger.ts'
import { createNode } from './node.ts'
import { callMethod } from './rpc/methods.ts'
import type { AccountState } from './runtime/account.ts'

/** The behaviour of the network of a test; everything has a default. */
export interface SolanaOptions extends Partial<Rules> {
  /** The port of its RPC server; a free one if absent. */
  readonly port?: number
  /** Real milliseconds between two blocks, 100 by default; `manual`: only `tick` makes them. */
  readonly slotMs?: number | 'manual'
  /** Empty blocks that there were before the test, 1,000 by default: enough for every blockhash to have lived and died. */
  readonly pastBlocks?: number
  /** The transactions that leaders accept; `market` changes it later. */
  readonly market?: Partial<Market>
  /** Milliseconds since 1970; the machine's clock by default. */
  readonly now?: () => number
}

/** A Solana network of our own: the address of its RPC node, and words for tests. */
export interface TestSolana {
  /** The url of its JSON-RPC. */
  readonly url: string
  readonly genesisHash: string
  /** Every block of the fork that the network is on, with its transactions in the order in which they ran. */
  readonly blocks: readonly Block[]
  /** Capacity and prices; what is set here counts from the next block on. */
  readonly market: Market
  /** Gives the account this many lamports more, as if it had always had them: they are there at every commitment. */
  airdrop(address: string, lamports: bigint): void
  /** Makes the account what it is, as if it had always been so; e.g. a mint. Passes by every rule. */
  plant(address: string, account: AccountState): void
  /** The account as the newest block left it. */
  account(address: string): AccountState | undefined
  /** Least lamports of an account with this many bytes of data. */
  rentExemption(dataLength: number): bigint
  /** The slot of the newest block. */
  slot(): bigint
  /** The height of the newest block. */
  blockHeight(): bigint
  /** The slot of the newest finalized block. */
  finalizedSlot(): bigint
  /** Makes the next block, or several; gives the last. */
  tick(blocks?: number): Block
  /** Lets slots pass without blocks. */
  skip(slots?: number): void
  /** The transaction of this signature, when a block of this fork holds it. */
  included(signature: string): AppliedTransaction | undefined
  /** Returns the transactions that wait for a block. */
  pending(): readonly Pending[]
  /** The nodes lose what waits. */
  dropPending(): void
  /** The network turns to a fork without its newest blocks; gives what was in them. None of them may be finalized. */
  fork(depth: number): AppliedTransaction[]
  /** The address of a node that sees the network as of this many blocks ago; what is sent there arrives. */
  replica(options: { readonly behind: number }): string
  /** A further node of the same network, with a ledger of its own. */
  node(options?: LedgerOptions): TestSolanaNode
  stop(): Promise<void>
}

/** A node that lacks nothing. */
const WHOLE: LedgerOptions = { keepsHistory: true, longTermStorage: 'none', fresh: false, olderBank: 0 }

/** A node that keeps, and forgets, what it was told to. */
export interface TestSolanaNode {
  readonly url: string
  /** The options of its ledger; changes count from the next call on. */
  readonly options: LedgerOptions
  replica(options: { readonly behind: number }): string
  /**
   * It restarts on a snapshot of the newest finalized block and has none of the `blocks` newest finalized ones in its ledger, that
   * one included ("missing due to ledger jump to recent snapshot"). Default maker of the snapshot: agave.
   */
  jump(blocks: number, maker?: SnapshotMaker): void
  /** It gets every block that there ever was, and answers for all of them. */
  restore(): void
}

const DEFAULT_SLOT_MS = 100
const DEFAULT_PAST_BLOCKS = 1_000
const DEFAULT_RULES: Rules = {
  finalizedLag: 4,
  confirmedLag: 1,
  recentBlocks: 300,
  accountLocks: 64,
  historyBlocks: 100_000,
  lamportsPerByte: 6_960n,
  noOps: 'none',
}
const DEFAULT_MARKET: Market = { capacity: 1000, requiredPrice: 0n, recentPrice: 0n }

/** Starts a network with its RPC node on a free port of this machine. */
export async function startSolana(options: SolanaOptions = {}): Promise<TestSolana> {
  const {
    port,
    slotMs = DEFAULT_SLOT_MS,
    pastBlocks = DEFAULT_PAST_BLOCKS,
    market,
    now = Date.now,
    ...rules
  } = options
  const time = () => BigInt(Math.floor(now() / 1000))
  const chain = createChain({ ...DEFAULT_RULES, ...rules }, { ...DEFAULT_MARKET, ...market }, time())
  makePast(chain, pastBlocks, time())
  // A network is older than its tests, so its first blocks are finalized.
  repeat(chain.rules.finalizedLag, () => void produceBlock(chain, time()))
  const ledgers: Ledger[] = []
  const server = await startSolanaServer(chain, ledgers, port)
  const timer = slotMs === 'manual' ? undefined : setInterval(() => produceBlock(chain, time()), slotMs)
  return {
    url: server.url,
    genesisHash: chain.genesisHash,
    market: chain.market,
    ...controlsOf(chain),
    tick(blocks = 1) {
      repeat(blocks, () => void produceBlock(chain, time()))
      return chain.blocks.last()
    },
    replica: ({ behind }) => `${server.url}/behind/${behind}`,
    node: (ledgerOptions = {}) => {
      const ledger = createLedger(ledgerOptions)
      return nodeOf(chain, ledger, `${server.url}/nodes/${ledgers.push(ledger)}`)
    },
    async stop() {
      clearInterval(timer)
      await server.stop()
    },
  }
}

function nodeOf(chain: Chain, ledger: Ledger, url: string): TestSolanaNode {
  return {
    url,
    options: ledger.options,
    replica: ({ behind }) => `${url}/behind/${behind}`,
    restore: () => {
      ledger.holes.length = 0
      delete ledger.signaturesAfter
      Object.assign(ledger.options, { ...WHOLE, historyBlocks: chain.rules.historyBlocks })
    },
    jump: (count, maker = 'agave') => {
      const { blocks, root } = chain
      const to = blocks.near(root).slot
      ledger.holes.push({ from: blocks.near(root - count + 1).slot, to })
      if (maker === 'firedancer') ledger.signaturesAfter = to
      else delete ledger.signaturesAfter
    },
  }
}

type Controls = Omit<TestSolana, 'url' | 'genesisHash' | 'market' | 'tick' | 'replica' | 'node' | 'stop'>

function controlsOf(chain: Chain): Controls {
  const { blocks, accounts, vm, pool } = chain
  const refresh = (of: Address) => vm.set(of, accountAt(chain, of, blocks.length - 1))
  return {
    blocks: blocks.all(),
    airdrop(to, lamports) {
      accounts.give(address(to), lamports, vm.account(address(to)))
      refresh(address(to))
    },
    plant(at, account) {
      accounts.plant(address(at), account)
      refresh(address(at))
    },
    account: (of) => vm.account(address(of)),
    rentExemption: vm.rentExemption,
    slot: () => blocks.last().slot,
    blockHeight: () => blocks.last().height,
    finalizedSlot: () => blocks.near(chain.root).slot,
    skip: (slots = 1) => repeat(slots, () => skipSlot(chain)),
    included: (signature) => blocks.find(signature),
    pending: () => pool.inOrder(),
    dropPending: () => pool.clear(),
    fork: (depth) => fork(chain, depth),
  }
}

function repeat(count: number, action: () => void): void {
  for (let done = 0; done < count; done += 1) action()
}

/** Not yet in TypeScript's library; V8 has it. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/** JSON with integers of any size as numbers, as Solana's nodes write u64. */
function writeJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'bigint' ? rawJSON(String(item)) : item,
  )
}

/** Largest request (agave rpc.rs `MAX_REQUEST_BODY_SIZE`), in bytes. */
const MAX_BODY_BYTES = 50 * 1024

/** Lets nodes of this network answer. `ledgers` are those of its further nodes, the first of them number 1. */
function startSolanaServer(chain: Chain, ledgers: readonly Ledger[], port?: number): Promise<JsonRpcServer> {
  const own = createLedger()
  return startJsonRpcServer({
    port,
    maxBodyBytes: MAX_BODY_BYTES,
    messages: { unreadable: 'Parse error', invalid: 'Invalid request', empty: 'Invalid request' },
    answer({ behind, node, method, params = [] }) {
      if (!Array.isArray(params)) throw new RpcFault(INVALID_REQUEST, 'Invalid request')
      const ledger = node === 0 ? own : ledgers[node - 1]
      if (ledger === undefined) throw new Error(`there is no node ${node}`)
      return callMethod(createNode(chain, behind, ledger), method, params)
    },
    write: writeJson,
  })
}
