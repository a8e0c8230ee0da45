import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Chain, SourceAccount } from '../../chains/chain.ts'
import type { Schema } from '../../database/schema.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Relayer } from '../relayer.ts'
import type { HealthMemory } from './health.ts'
import type { HealthSubject } from './health-store.ts'

/** A relayer that is checked, and where. */
export interface HealthTarget extends HealthSubject {
  readonly chain: Chain
  /** The accounts that it takes nonces of now. */
  readonly sourceAccounts: readonly SourceAccount[]
  /** From its last check on this chain. */
  readonly memory: HealthMemory
}

/** What checks work with. */
export interface HealthCheckerDeps {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly log: Logger
  /** Where a relayer acts now, and with which accounts. */
  readonly prepare: (relayer: Relayer) => Promise<Pick<HealthTarget, 'chain' | 'sourceAccounts'>>
}
