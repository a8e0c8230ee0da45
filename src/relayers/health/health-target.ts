import type { Logger } from 'pino'
import type { Chain, SourceAccount } from '../../chains/chain.ts'
import type { Db } from '../../database/schema.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Relayer } from '../relayer.ts'
import type { HealthMemory, HistoryCheck, UnexplainedNonces } from './health.ts'
import type { HealthSubject } from './health-store.ts'

/** A relayer under check, with its chain. */
export interface HealthTarget extends HealthSubject {
  readonly chain: Chain
  /** The accounts whose nonces it takes. */
  readonly sourceAccounts: readonly SourceAccount[]
  /** The memory of its last check on this chain. */
  readonly memory: HealthMemory
}

/** The parts of the service that checks work with. */
export interface HealthCheckerDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /** Returns a sentence when the chain of a prepared relayer was reset; undefined when that is not proved. */
  readonly findChainReset: (relayer: Relayer) => Promise<string | undefined>
  /** Finds the accounts of a relayer whose chain has used nonces that the records do not explain. Read the nonces of the chain before. */
  readonly findUnexplained: (
    relayer: Relayer,
    sourceAccounts: readonly { readonly address: string; readonly chainNonce: bigint }[],
  ) => Promise<UnexplainedNonces[]>
  /** Compares the transactions of the relayer's account with the records, on chains without nonces. Never rejects. */
  readonly checkHistory: (relayer: Relayer, chain: Chain) => Promise<HistoryCheck>
  /** Returns the present chain and accounts of a relayer. */
  readonly prepare: (relayer: Relayer) => Promise<Pick<HealthTarget, 'chain' | 'sourceAccounts'>>
}
