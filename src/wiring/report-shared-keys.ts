import type { Logger } from 'pino'
import type { Db } from '../database/schema.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { findSharedAccounts, findSharedKeys } from '../relayers/shared-keys.ts'
import { allRelayers, relayersOfKey } from '../relayers/store.ts'
import type { Keyring } from '../signers/keyring.ts'

interface ReportDeps {
  readonly db: Db
  readonly keyring: Keyring
  readonly log: Logger
}

/**
 * Logs a warning for each key that serves several network types as it is: only the rules of each operation keep its signatures apart. And one
 * for each account on several EVM networks: a signature that names no chain is good on all of them.
 */
export async function reportSharedKeys(deps: ReportDeps): Promise<void> {
  await report(deps, await allRelayers(deps.db))
}

/** Logs the same about the key of one relayer, which is new. It never rejects, because the relayer is there. */
export async function reportKeyOf(deps: ReportDeps, relayer: Relayer): Promise<void> {
  try {
    await report(deps, await relayersOfKey(deps.db, relayer))
  } catch (error) {
    deps.log.error({ err: error, relayer: relayer.id }, 'search for shared keys failed')
  }
}

async function report({ keyring, log }: ReportDeps, relayers: readonly Relayer[]): Promise<void> {
  for (const sharedKey of await findSharedKeys(relayers, keyring.find))
    log.warn(sharedKey, 'key shared by network types; give each network type a signer of its own')
  for (const sharedAccount of findSharedAccounts(relayers))
    log.warn(sharedAccount, 'account shared by EVM networks; give each network a signer of its own')
}
