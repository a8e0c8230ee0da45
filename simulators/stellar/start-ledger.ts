import { randomBytes } from 'node:crypto'
import { Address, xdr } from '@stellar/stellar-sdk'
import { invalidParams, type JsonRpcServer, startJsonRpcServer } from '../json-rpc.ts'
import type { Offer } from './apply/market.ts'
import type { AppliedTransaction, ClosedLedger } from './chain.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { createNetwork, type Network } from './network.ts'
import type { Capacity } from './queue/mempool.ts'
import { callMethod } from './rpc/methods.ts'
import { createNode, type NodeFault } from './rpc/node.ts'
import type { Params } from './rpc/params.ts'
import type { Program } from './soroban/contracts.ts'
import { codeEntry, contractAddress, instanceEntry, sha256 } from './soroban/keys.ts'
import { MIN_PERSISTENT_LEDGERS } from './soroban/storage.ts'
import {
  type AccountEntry,
  accountKey,
  contractKey,
  type DataEntry,
  newAccount,
  type TrustlineEntry,
} from './state/entries.ts'
import { accountIn } from './state/state.ts'
import { decodeFrame, type Frame } from './transaction/frame.ts'

/** The behaviour of the network of a test; everything has a default. */
export interface LedgerOptions extends Partial<Omit<Network, 'id' | 'ledgerSeconds'>> {
  /** The port of its RPC server; a free one if absent. */
  readonly port?: number
  /**
   * Real milliseconds between two ledgers, 1000 by default; `manual`: only `close` makes them. Before protocol 30, close times are whole
   * seconds that grow with each ledger, so with less than 1000 the network's time runs ahead of the machine's.
   */
  readonly closeEveryMs?: number | 'manual'
  /** The expected time of a ledger, in seconds: at least 1; 5 when the test closes ledgers. */
  readonly ledgerSeconds?: number
  /** The capacity of a ledger: 1000 operations, 100 contract calls. */
  readonly capacity?: Partial<Capacity>
  /** Milliseconds since 1970; the machine's clock by default. */
  readonly now?: () => number
}

/** An account and everything that hangs on it. */
export interface AccountState extends AccountEntry {
  readonly trustlines: readonly TrustlineEntry[]
  readonly data: readonly DataEntry[]
}

/** The options of a close by the test. */
export interface CloseOptions {
  /** The number of ledgers; 1 by default. */
  readonly ledgers?: number
  /** Each of them closes this many seconds after the one before; by default now, or as soon after it as the protocol allows. */
  readonly seconds?: number
}

/** A Stellar network of our own: the RPC server's address, and words for tests. */
export interface TestLedger {
  /** The url of its JSON-RPC. */
  readonly url: string
  readonly passphrase: string
  /** Every ledger that has closed, with its transactions in the order in which they were applied. */
  readonly ledgers: readonly ClosedLedger[]
  /** Gives the account this many stroops more; it is made when it does not exist. */
  fund(address: string, stroops: bigint): void
  account(address: string): AccountState | undefined
  /** Makes the next ledger, or several; gives the last. */
  close(how?: number | CloseOptions): ClosedLedger
  /** The transaction of this hash, or the fee bump around the one of this hash, when a ledger holds it. */
  included(hash: string): AppliedTransaction | undefined
  /** Returns the frames that wait for a ledger. */
  queue(): readonly Frame[]
  /** The node has lost what waits, and forgotten what it banned. */
  dropQueue(): void
  /** The address of a server that reads are answered by as of this many ledgers ago; what is sent there arrives. */
  replica(options: { readonly behind: number }): string
  /** Sets the fault of all RPC servers from now on. */
  setNodeFault(nodeFault: NodeFault): void
  /** Starts another RPC server of the network, with this fault of its own. */
  startFaulty(nodeFault: NodeFault): Promise<JsonRpcServer>
  /** Another validator puts this envelope, XDR in base64, into the next ledger if it is valid there. */
  nominate(envelope: string): void
  /** The next this many searches for a transaction that a ledger holds miss the newest ledger, and name it all the same. */
  tearReads(count: number): void
  /** Sets the number of operations that fit into a ledger from now on, and of contract calls. */
  setCapacity(operations: number, contractTransactions?: number): void
  /** Validators vote for another base reserve, in stroops; it holds from the next ledger on. */
  voteBaseReserve(stroops: bigint): void
  /** Adds an offer that exchanges any amount of `buying` for `selling` at this price. */
  offer(offer: Omit<Offer, 'id'>): void
  /** A contract that does this; gives its address, C…. */
  contract(program: Program, wasm?: Uint8Array): string
  /** Sets the behaviour of code when it is uploaded and a contract is created from it. */
  program(wasm: Uint8Array, program: Program): void
  /** The address of the contract that moves the native asset; it is there from the beginning. */
  readonly nativeContract: string
  /** Ends the life of contract data or code before the last ledger: what is persistent is archived. */
  archive(key: xdr.LedgerKey): void
  stop(): Promise<void>
}

const MANUAL_LEDGER_SECONDS = 5

/** Starts a network with its RPC server on a free port of this machine. */
export async function startLedger(options: LedgerOptions = {}): Promise<TestLedger> {
  const { port, closeEveryMs = 1000, capacity, now = Date.now, ...changes } = options
  const ledgerSeconds =
    closeEveryMs === 'manual' ? MANUAL_LEDGER_SECONDS : Math.max(1, Math.ceil(closeEveryMs / 1000))
  const network = createNetwork({ ledgerSeconds, ...changes })
  const ledger = createLedger(network, { operations: 1000, contractTransactions: 100, ...capacity }, now)
  const server = await startLedgerServer(ledger, { port })
  const nextTime = () => Math.floor(now() / 1000)
  const timer =
    closeEveryMs === 'manual' ? undefined : setInterval(() => ledger.close(nextTime()), closeEveryMs)
  return {
    url: server.url,
    passphrase: network.passphrase,
    ledgers: ledger.chain.ledgers,
    fund: (address, stroops) => fund(ledger, address, stroops),
    account: (address) => accountOf(ledger, address),
    close: (how = {}) => closeAll(ledger, typeof how === 'number' ? { ledgers: how } : how, nextTime),
    included: (hash) => ledger.chain.find(hash),
    queue: () => ledger.mempool.frames(),
    dropQueue: () => ledger.mempool.clear(),
    setNodeFault(nodeFault) {
      ledger.nodeFault = nodeFault
    },
    startFaulty: (nodeFault) => startLedgerServer(ledger, { nodeFault }),
    nominate: (envelope) => ledger.nominate(decodeFrame(envelope, network)),
    tearReads: (count) => ledger.tearReads(count),
    replica: ({ behind }) => `${server.url}/behind/${behind}`,
    setCapacity(operations, contractTransactions = operations) {
      ledger.capacity = { operations, contractTransactions }
    },
    voteBaseReserve(baseReserve) {
      Object.assign(network, { baseReserve })
      ledger.close(nextTime())
    },
    offer: (offer) => void ledger.market.add(offer),
    contract: (program, wasm) => deploy(ledger, program, wasm),
    program: (wasm, program) => void ledger.programs.set(sha256(wasm), program),
    nativeContract: deployNative(ledger),
    archive: (key) => archive(ledger, key),
    async stop() {
      clearInterval(timer)
      await server.stop()
    },
  }
}

function closeAll(ledger: Ledger, how: CloseOptions, nextTime: () => number): ClosedLedger {
  for (let count = 0; count < (how.ledgers ?? 1); count += 1) {
    const last = ledger.chain.latest().closeTime
    ledger.close(how.seconds === undefined ? nextTime() : last + how.seconds)
  }
  return ledger.chain.latest()
}

function fund(ledger: Ledger, address: string, stroops: bigint): void {
  ledger.amend((changes) => {
    const account = accountIn(changes, address) ?? newAccount(address, 0n, ledger.chain.latest().sequence)
    changes.set({ ...account, balance: account.balance + stroops })
  })
}

function accountOf({ chain, history }: Ledger, address: string): AccountState | undefined {
  const { sequence } = chain.latest()
  const entry = history.at(sequence).get(accountKey(address))
  if (entry?.kind !== 'account') return undefined
  const all = history.all(sequence)
  return {
    ...entry,
    trustlines: all.filter(
      (other): other is TrustlineEntry => other.kind === 'trustline' && other.account === address,
    ),
    data: all.filter((other): other is DataEntry => other.kind === 'data' && other.account === address),
  }
}

/** Creates a contract that behaves like `program`, without a transaction; returns its address. The code only identifies it. */
function deploy(ledger: Ledger, program: Program, wasm: Uint8Array = randomBytes(32)): string {
  const contract = Address.contract(randomBytes(32)).toString()
  ledger.programs.set(sha256(wasm), program)
  const executable = xdr.ContractExecutable.contractExecutableWasm(sha256(wasm))
  const liveUntil = endOfLife(ledger)
  ledger.amend((changes) => {
    changes.set(codeEntry(wasm, liveUntil))
    changes.set(instanceEntry(contract, executable, liveUntil))
  })
  return contract
}

/** Makes the contract of the native asset (CAP-46-06), as every network has it; gives its address. */
function deployNative(ledger: Ledger): string {
  const preimage = xdr.ContractIdPreimage.contractIdPreimageFromAsset(xdr.Asset.assetTypeNative())
  const contract = contractAddress(preimage, ledger.network)
  const executable = xdr.ContractExecutable.contractExecutableStellarAsset()
  ledger.amend((changes) => changes.set(instanceEntry(contract, executable, endOfLife(ledger))))
  return contract
}

/** Ends the life of an entry with the ledger before the last, so that it is archived in the last one. Throws when there is none. */
function archive(ledger: Ledger, key: xdr.LedgerKey): void {
  ledger.amend((changes) => {
    const entry = changes.get(contractKey(key.toXdr('base64')))
    if (entry?.kind !== 'contract') throw new Error('There is no such contract entry.')
    changes.set({ ...entry, liveUntil: ledger.chain.latest().sequence - 1 })
  })
}

function endOfLife({ chain }: Ledger): number {
  return chain.latest().sequence + MIN_PERSISTENT_LEDGERS - 1
}

interface ServerOptions {
  readonly port?: number | undefined
  /** Its own fault; that of all servers if absent. */
  readonly nodeFault?: NodeFault
}

/** Starts RPC servers of this network. */
function startLedgerServer(ledger: Ledger, { port, nodeFault }: ServerOptions): Promise<JsonRpcServer> {
  return startJsonRpcServer({
    port,
    messages: { unreadable: 'invalid request', invalid: 'invalid request', empty: 'empty request batch' },
    answer({ behind, method, params }) {
      // Clients say that there are none by leaving them out, or by null.
      const named = params ?? {}
      if (typeof named !== 'object' || Array.isArray(named)) throw invalidParams('invalid parameters')
      return callMethod(createNode(ledger, behind, nodeFault), method, named as Params)
    },
    write: JSON.stringify,
  })
}
