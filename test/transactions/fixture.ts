import { randomBytes, randomUUID } from 'node:crypto'
import { bytesToHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { Actor } from '../../src/access/principal.ts'
import type { Chain, SourceAccount } from '../../src/chains/chain.ts'
import type { ChainRequest } from '../../src/chains/request.ts'
import type { Database } from '../../src/database/db.ts'
import { acquireLease, type Lease, releaseLease } from '../../src/database/lease.ts'
import { createLogger } from '../../src/log.ts'
import type { EvmNetwork } from '../../src/networks/network.ts'
import type { EvmRelayer, EvmRelayerConfig, Relayer } from '../../src/relayers/relayer.ts'
import { findRelayer, saveRelayer } from '../../src/relayers/store.ts'
import { createSecp256k1Signer } from '../../src/signers/secp256k1.ts'
import { type Acceptor, createAcceptor } from '../../src/transactions/accept/accept.ts'
import { createAccountChooser } from '../../src/transactions/accept/choose-account.ts'
import type { RelayerRuntime, TransactionsContext } from '../../src/transactions/model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../../src/transactions/model/transaction.ts'
import { cancelPending } from '../../src/transactions/replace/cancel-pending.ts'
import type { Replacer } from '../../src/transactions/replace/replace.ts'
import { findTransaction } from '../../src/transactions/store/lookups-store.ts'
import { insertTransactions } from '../../src/transactions/store/transactions-store.ts'
import { SharedAccounts } from '../../src/workers/account-share.ts'
import { requestOf } from '../chains/evm/build.ts'
import { createTestClock, type TestClock } from '../support/clock.ts'
import { openTestDatabase } from '../support/database.ts'
import { SILENT_NETWORK } from './stub-chain.ts'

/** An account with its own key. */
export interface TestAccount {
  readonly relayer: EvmRelayer
  /** The clock of the fixture. */
  readonly clock: TestClock
  readonly runtime: RelayerRuntime
}

/** One line of the log: its message, and the fields that one searches for. */
export type LogLine = { readonly msg: string } & Readonly<Record<string, unknown>>

/** The transactions module on its own database in memory, with a clock that the test advances. */
export interface Fixture {
  readonly database: Database
  readonly context: TransactionsContext
  readonly clock: TestClock
  /** Every line that the module has logged, as fields. */
  readonly logLines: readonly LogLine[]
  /** `channels`: the number of further source accounts, each with its own address and key. */
  addAccount(options: {
    chain: Chain
    network?: EvmNetwork
    policies?: EvmRelayerConfig['policies']
    channels?: number
  }): Promise<TestAccount>
  close(): Promise<void>
}

/** Opens the fixture. `maxInFlight` is 10 by default, `database` one that other tests have used and left empty. */
export async function openFixture(
  options: { maxInFlight?: number; database?: Database } = {},
): Promise<Fixture> {
  const logLines: LogLine[] = []
  const log = createLogger({ level: 'info' }, { write: (line) => void logLines.push(JSON.parse(line)) })
  const database = options.database ?? (await openTestDatabase())
  const clock = createTestClock()
  const runtimes = new Map<string, RelayerRuntime>()
  const runtimeOf = ({ id }: Relayer) => {
    const runtime = runtimes.get(id)
    if (!runtime) throw new Error(`no runtime for ${id}`)
    return runtime
  }
  const owner = randomUUID()
  const context = {
    db: database.db,
    clock,
    log,
    maxInFlight: options.maxInFlight ?? 10,
    owner,
    share: new SharedAccounts({ db: database.db, clock, log, owner, isAlone: true }),
    relayerOf: (id: string) => findRelayer(database.db, id),
    runtimeOf,
    hasOneSession: true,
    seenNonces: new WeakMap(),
    findChainReset: async () => undefined,
    checkHealth: async () => undefined,
    startedAt: 0,
    checkHistory: async () => ({ kind: 'explained' as const }),
    hasRested: () => false,
  }
  return {
    database,
    context,
    clock,
    logLines,
    async addAccount({ chain, network = SILENT_NETWORK, policies = {}, channels = 0 }) {
      const account = newSourceAccount()
      const relayer: EvmRelayer = {
        id: randomUUID(),
        name: 'Test',
        network: network.name,
        networkType: 'evm',
        address: account.address,
        signerId: 'key',
        paused: false,
        systemDisabled: false,
        policies,
      }
      const sourceAccounts = [account, ...Array.from({ length: channels }, newSourceAccount)]
      const isPrivate = policies.privateTransactions === true
      const runtime = { network, chain, isPrivate, account, sourceAccounts }
      runtimes.set(relayer.id, runtime)
      await database.db.transaction().execute((tx) => saveRelayer(tx, relayer))
      return { relayer, clock, runtime }
    },
    async close() {
      await database.close()
    },
  }
}

/** An address with its own key. */
function newSourceAccount(): SourceAccount {
  const key = randomBytes(32)
  return { address: privateKeyToAddress(bytesToHex(key)), signer: createSecp256k1Signer('key', key) }
}

/** A pending transaction of this account that was never stored. */
export function newTransaction(
  { relayer, clock }: TestAccount,
  change: Partial<Transaction> = {},
): Transaction {
  return {
    id: randomUUID(),
    relayerId: relayer.id,
    network: relayer.network,
    from: relayer.address,
    status: 'pending',
    createdAt: new Date(clock.now()),
    request: requestOf(),
    purpose: 'request',
    version: 1,
    cost: 0n,
    nextRunAt: new Date(clock.now()),
    // A nonce belongs to a source account.
    ...(change.nonce !== undefined && { sourceAccount: relayer.address }),
    ...change,
  }
}

/** Stores transactions as they are, with their events. */
export async function insert(
  { db }: TransactionsContext,
  ...transactions: readonly Transaction[]
): Promise<readonly Transaction[]> {
  await db.transaction().execute((tx) => insertTransactions(tx, transactions))
  return transactions
}

/** Reads the stored transaction; throws when there is none. */
export async function reload(
  { db }: TransactionsContext,
  { relayerId, id }: Transaction,
): Promise<TransactionWithAttempts> {
  const item = await findTransaction(db, relayerId, id)
  if (!item) throw new Error(`transaction ${id} is gone`)
  return item
}

/** The statuses in the events of a transaction, oldest first. */
export async function eventsOf({ db }: TransactionsContext, { id }: Transaction): Promise<string[]> {
  const rows = await db
    .selectFrom('events')
    .select('payload')
    .where('transaction_id', '=', id)
    .orderBy('number')
    .execute()
  return rows.map(({ payload }) => (payload as { status: string }).status)
}

/** Accepts a request for an account as a caller of the API does. */
export function acceptorOf(context: TransactionsContext) {
  const acceptor = createAcceptor(context, createAccountChooser(context))
  return (
    relayer: Relayer,
    request: ChainRequest,
    actor: Actor,
    options: Omit<Parameters<Acceptor['send']>[1], 'request' | 'actor'> = {},
  ) => acceptor.send(relayer, { request, actor, ...options })
}

/** Cancels the open requests of a relayer by this replacer. */
export function pendingCancelerOf(context: TransactionsContext, replacer: Pick<Replacer, 'cancel'>) {
  return (relayer: Relayer, actor: Actor, signal: AbortSignal) =>
    cancelPending(context, replacer, { relayer, actor, signal })
}

/** The account's lease, in the name of `owner`. */
export async function leaseOf(context: TransactionsContext, { relayer }: TestAccount): Promise<Lease> {
  const lease = await acquireLease(context.db, {
    name: `account:${relayer.id}`,
    owner: context.owner,
    ttlMs: 60_000,
  })
  if (!lease) throw new Error('a third party holds the account')
  return lease
}

/** A lease of the account that another process has taken over since. */
export async function lostLeaseOf(context: TransactionsContext, account: TestAccount): Promise<Lease> {
  const lease = await leaseOf(context, account)
  await releaseLease(context.db, lease)
  await acquireLease(context.db, { name: lease.name, owner: 'another process', ttlMs: 60_000 })
  return lease
}
