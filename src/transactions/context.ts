import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Account, Chain } from '../chains/chain.ts'
import type { Clock } from '../clock.ts'
import type { Lease } from '../database/lease.ts'
import type { Schema } from '../database/schema.ts'
import type { Network } from '../networks/network.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { Signer } from '../signers/signer.ts'

/** What a relayer needs to act: where, and with which key. */
export interface Operator {
  readonly network: Network
  readonly chain: Chain
  readonly signer: Signer
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
  /** Throws for a relayer that the configuration does not know: a fault of ours. */
  operatorOf(relayer: Relayer): Operator
}

/** One account, held by this process for the time of one step. */
export interface HeldAccount {
  readonly relayer: Relayer
  readonly operator: Operator
  readonly lease: Lease
}

/** The account as chains see it. */
export function accountOf(relayer: Relayer): Account {
  return { address: relayer.address, policies: relayer.policies }
}
