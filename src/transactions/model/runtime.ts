import type { Logger } from 'pino'
import type { Chain, SigningContext, SourceAccount } from '../../chains/chain.ts'
import type { Account, ChainRequest } from '../../chains/request.ts'
import type { Db } from '../../database/db.ts'
import type { Lease } from '../../database/lease.ts'
import type { Clock } from '../../lib/time.ts'
import type { Network } from '../../networks/network.ts'
import type { HistoryCheck } from '../../relayers/health/health.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { BeforeSend } from './before-send.ts'
import type { TransactionObserver, TransactionTracer } from './observer.ts'
import type { Transaction } from './transaction.ts'

/** A relayer's network, chain client and signing accounts. */
export interface RelayerRuntime {
  readonly network: Network
  readonly chain: Chain
  /** The policies of the relayer send everything to private endpoints. */
  readonly isPrivate: boolean
  /** The relayer's own account. */
  readonly account: SourceAccount
  /**
   * Accounts whose nonces its transactions can use: the relayer's own account first, then its channel
   * accounts.
   */
  readonly sourceAccounts: readonly SourceAccount[]
}

/** The accounts that this process works for: each account belongs to one of the live processes. */
export interface AccountShare {
  /**
   * Returns true if the account belongs to this process. Processes may disagree for a moment, so only a lease
   * allows to write.
   */
  has(relayerId: string): boolean
  /** A number that changes whenever other accounts may belong to this process than before. */
  readonly version: number
  /**
   * Returns the lease of the account, which this process keeps between steps; undefined if another process
   * has it.
   */
  lease(relayerId: string): Promise<Lease | undefined>
  /** Ends a step with this lease. `lost`: another process has acquired it. */
  release(relayerId: string, step: { readonly lost: boolean }): Promise<void>
}

/** Dependencies and settings that every function of this folder gets. */
export interface TransactionsContext {
  readonly db: Db
  /**
   * All database transactions of all processes follow each other, as in the embedded database: none waits for
   * a lock.
   */
  readonly hasOneSession: boolean
  /**
   * The next nonces that each chain last returned, by source account: one that has not fallen needs no query.
   */
  readonly seenNonces: WeakMap<Chain, Map<string, bigint>>
  readonly clock: Clock
  /** The time of `clock` when this process opened the database, which may be an older copy. */
  readonly startedAt: number
  readonly log: Logger
  /** The maximum number of transactions of one account that are signed and not mined. */
  readonly maxInFlight: number
  /** Identifies this process in leases. */
  readonly owner: string
  readonly share: AccountShare
  /** Absent if metrics are off. */
  readonly observer?: TransactionObserver | undefined
  /** Absent if traces are off. */
  readonly tracer?: TransactionTracer | undefined
  /** Asks about requests of callers. Absent if there is no one to ask, and for the workers. */
  readonly beforeSend?: BeforeSend | undefined
  /** Finds a relayer that can act; undefined if no relayer has this id. */
  relayerOf(id: string): Promise<Relayer | undefined>
  /**
   * Returns a sentence when the chain is another one than the service saw first, as after a restart of a
   * local node; undefined if that is not proved.
   */
  findChainReset(runtime: Pick<RelayerRuntime, 'chain' | 'network'>): Promise<string | undefined>
  /** Checks the relayer's health now, for 5 s at most, and disables it where that is due. */
  checkHealth(relayer: Relayer): Promise<unknown>
  /**
   * Compares the transactions of the relayer's account with the records, on chains without nonces. Never
   * rejects.
   */
  checkHistory(relayer: Relayer, chain: Chain): Promise<HistoryCheck>
  /** Returns true if that was not done for a minute, on such chains. */
  hasRested(relayer: Relayer, chain: Chain): boolean
  /** @throws Error for a relayer that `relayerOf` did not return, which is a fault in this service */
  runtimeOf(relayer: Relayer): RelayerRuntime
}

/** An account that this process has leased for one step. */
export interface LeasedAccount {
  readonly relayer: Relayer
  readonly runtime: RelayerRuntime
  readonly lease: Lease
}

/**
 * Returns the signer for a source account and nonce. A source account of a third party has no signer here.
 */
export function signingContextOf(
  { account, sourceAccounts }: RelayerRuntime,
  address: string,
  nonce: bigint | undefined,
): SigningContext {
  const sourceAccount = sourceAccounts.find((other) => other.address === address) ?? {
    address,
    signer: undefined,
  }
  return { sourceAccount, nonce, account }
}

/** A third party signed the content with its own nonce, so no no-op of this service can use that nonce. */
export function isExternallySigned(
  { sourceAccounts }: RelayerRuntime,
  { sourceAccount }: Pick<Transaction, 'sourceAccount'>,
): boolean {
  return sourceAccount !== undefined && !sourceAccounts.some(({ address }) => address === sourceAccount)
}

/** Returns the part of a relayer that chains need. */
export function accountOf(relayer: Relayer): Account {
  return { address: relayer.address, policies: relayer.policies }
}

/** The source account and the nonce of a transaction. */
interface ContentNonce {
  readonly sourceAccount: string | undefined
  readonly nonce: bigint | undefined
}

/**
 * Returns the nonce that the transaction has when this request becomes its content: the one that a third
 * party signed, otherwise its current one. A nonce of a third party is useless for other content, so the
 * service assigns a new one later.
 */
export function contentNonce(
  runtime: RelayerRuntime,
  transaction: Transaction,
  request: ChainRequest,
): ContentNonce {
  const externalNonce = runtime.chain.externalSigning?.nonceOf(request)
  if (externalNonce) return { sourceAccount: externalNonce.address, nonce: externalNonce.nonce }
  if (isExternallySigned(runtime, transaction)) return { sourceAccount: undefined, nonce: undefined }
  const { sourceAccount, nonce } = transaction
  return { sourceAccount, nonce }
}

/** Returns true if the transaction has this nonce. */
export function hasNonce(transaction: Transaction, { sourceAccount, nonce }: ContentNonce): boolean {
  return transaction.nonce === nonce && transaction.sourceAccount === sourceAccount
}
