import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Account, Chain, SigningContext, SourceAccount } from '../../chains/chain.ts'
import type { Lease } from '../../database/lease.ts'
import type { Schema } from '../../database/schema.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Network } from '../../networks/network.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionObserver } from './observer.ts'
import type { Transaction } from './transaction.ts'

/** What a relayer needs to act: where, and with which keys. */
export interface RelayerRuntime {
  readonly network: Network
  readonly chain: Chain
  /** The relayer's own account. */
  readonly account: SourceAccount
  /** Addresses whose nonces its transactions can take: the account itself first, then its channels. */
  readonly sourceAccounts: readonly SourceAccount[]
}

/** What every verb of this room works with. */
export interface TransactionsContext {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly log: Logger
  /** Most transactions of one account that are signed and not mined at the same time. */
  readonly maxInFlight: number
  /** Names this process in leases. */
  readonly owner: string
  /** Absent where nobody counts. */
  readonly observer?: TransactionObserver | undefined
  /** One relayer that can act; undefined when there is none of this id. */
  relayerOf(id: string): Promise<Relayer | undefined>
  /** Throws for a relayer that did not come by `relayerOf`: a fault of ours. */
  runtimeOf(relayer: Relayer): RelayerRuntime
}

/** One account, held by this process for the time of one step. */
export interface LeasedAccount {
  readonly relayer: Relayer
  readonly runtime: RelayerRuntime
  readonly lease: Lease
}

/** With what a transaction of this line and nonce is signed. A line that is not ours has no key here. */
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

/** Whether its nonce belongs to somebody else, who has signed its content: no no-op of ours can take it. */
export function isExternallySigned(
  { sourceAccounts }: RelayerRuntime,
  { sourceAccount }: Pick<Transaction, 'sourceAccount'>,
): boolean {
  return sourceAccount !== undefined && !sourceAccounts.some(({ address }) => address === sourceAccount)
}

/** The account as chains see it. */
export function accountOf(relayer: Relayer): Account {
  return { address: relayer.address, policies: relayer.policies }
}
