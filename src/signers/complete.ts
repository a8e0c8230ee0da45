import type { Logger } from 'pino'
import type { Db } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import { ConfigError } from '../lib/config-errors.ts'
import type { Key } from './key.ts'
import type { LoadedRemote, LoadedSigners, SignerConfig } from './load.ts'
import { describeSigner } from './providers/registry.ts'
import { comparePublicKeys } from './remote/create-remote-key.ts'
import type { PublicKeys } from './remote/remote-key.ts'
import { findRemembered } from './store.ts'

/** The keys of the configuration, complete. */
export interface CompleteKeys {
  /** By signer id. */
  readonly keys: ReadonlyMap<string, Key>
  /** The public keys of the signers outside this process, by signer id. */
  readonly publicKeys: ReadonlyMap<string, PublicKeys>
}

interface CompleteDeps {
  readonly db: Db
  readonly log: Logger
  readonly signers: readonly SignerConfig[]
}

/**
 * Completes the keys whose service does not answer with the public keys of an earlier start: the accounts exist, and what they send waits.
 * @throws ConfigError for a service that never answered, and for one that has another key now
 */
export async function completeKeys(
  { keys, remote }: LoadedSigners,
  { db, log, signers }: CompleteDeps,
): Promise<CompleteKeys> {
  const all = new Map(keys)
  const publicKeys = new Map<string, PublicKeys>()
  const problems: string[] = []
  for (const config of signers) {
    const loaded = remote.get(config.id)
    if (loaded === undefined) continue
    const found = decide(loaded, await findRemembered(db, describeSigner(config)))
    if (found instanceof AppError) {
      problems.push(found.detail)
      continue
    }
    if (loaded.answer instanceof AppError)
      log.warn(
        { signer: config.id, problem: loaded.answer.detail },
        'signer cannot be used now; what it signs waits',
      )
    publicKeys.set(config.id, found)
    all.set(config.id, loaded.connection.keyOf(found))
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return { keys: all, publicKeys }
}

/** Returns the public keys to work with, or the problem. */
function decide(
  { connection, answer }: LoadedRemote,
  remembered: PublicKeys | undefined,
): PublicKeys | AppError {
  if (answer instanceof AppError) return remembered ?? answer
  if (remembered === undefined) return answer
  try {
    comparePublicKeys(connection.name, { wanted: remembered, found: answer })
    return answer
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
