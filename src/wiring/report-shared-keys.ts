import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Schema } from '../database/schema.ts'
import { findSharedKeys } from '../relayers/shared-keys.ts'
import { allRelayers } from '../relayers/store.ts'
import type { Keyring } from '../signers/keyring.ts'

interface ReportDeps {
  readonly db: Kysely<Schema>
  readonly keyring: Keyring
  readonly log: Logger
}

/** Logs a warning for each key that serves several network types as it is: only the rules of each operation keep its signatures apart. */
export async function reportSharedKeys({ db, keyring, log }: ReportDeps): Promise<void> {
  for (const sharedKey of await findSharedKeys(await allRelayers(db), keyring.find))
    log.warn(sharedKey, 'key shared by network types; give each network type a signer of its own')
}
