import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Account, Chain, Line, Seat } from '../../chains/chain.ts'
import type { Lease } from '../../database/lease.ts'
import type { Schema } from '../../database/schema.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Network } from '../../networks/network.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { TransactionObserver } from './observer.ts'
import type { Transaction } from './transaction.ts'

/** What a relayer needs to act: where, and with which keys. */
export interface Operator {
  readonly network: Network
  readonly chain: Chain
  /** The relayer's own account. */
  readonly account: Line
  /** Addresses whose nonces its transactions can take: the account itself first, then its channels. */
  readonly lines: readonly Line[]
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
  operatorOf(relayer: Relayer): Operator
}

/** One account, held by this process for the time of one step. */
export interface HeldAccount {
  readonly relayer: Relayer
  readonly operator: Operator
  readonly lease: Lease
}

/** With what a transaction of this line and nonce is signed. A line that is not ours has no key here. */
export function seatOf({ account, lines }: Operator, address: string, nonce: bigint | undefined): Seat {
  const line = lines.find((other) => other.address === address) ?? { address, signer: undefined }
  return { line, nonce, account }
}

/** Whether its nonce belongs to somebody else, who has signed its content: no no-op of ours can take it. */
export function isForeign({ lines }: Operator, { line }: Pick<Transaction, 'line'>): boolean {
  return line !== undefined && !lines.some(({ address }) => address === line)
}

/** The account as chains see it. */
export function accountOf(relayer: Relayer): Account {
  return { address: relayer.address, policies: relayer.policies }
}
