import type { Logger } from 'pino'
import { applyConfig } from '../config/apply/apply.ts'
import { describeChange } from '../config/apply/changes.ts'
import type { Config } from '../config/load.ts'
import type { Database } from '../database/engine.ts'
import { endAllLeases } from '../database/lease.ts'
import { migrate } from '../database/migrate.ts'
import { sealStoredUrls } from '../database/seal-stored-urls.ts'
import { skipIssuedNumbers } from '../events/number-store.ts'
import { configuredAccounts, type RelayerAccounts } from '../relayers/accounts.ts'
import type { Sealer } from '../security/sealer.ts'
import { type CompleteKeys, completeKeys } from '../signers/complete.ts'
import type { LoadedSigners } from '../signers/load.ts'

/** An open database, and what it is prepared for. */
export interface Preparation {
  readonly config: Config
  readonly database: Database
  readonly sealer: Sealer | undefined
  readonly loaded: LoadedSigners
  /** Undefined until every key is known. */
  readonly accounts: ReadonlyMap<string, RelayerAccounts> | undefined
  readonly log: Logger
}

/** Migrates the database, completes the keys from it, and applies the configuration. */
export async function prepareDatabase(preparation: Preparation): Promise<CompleteKeys> {
  const { config, database, sealer, loaded, log } = preparation
  const applied = await migrate(database)
  if (applied.length > 0) log.info({ migrations: applied }, 'database migrated')
  if (database.engine === 'pglite') await endAllLeases(database.db)
  await skipIssuedNumbers(database.db)
  if (sealer !== undefined) await sealStoredUrls(database.db)
  const complete = await completeKeys(loaded, { db: database.db, log, signers: config.signers })
  const accounts = preparation.accounts ?? (await configuredAccounts(config, complete.keys))
  const changes = await applyConfig(database.db, { ...config, publicKeys: complete.publicKeys }, accounts)
  log.info(
    { changes: changes.map(describeChange) },
    changes.length === 0 ? 'configuration unchanged' : 'configuration applied',
  )
  return complete
}
