import type { Logger } from 'pino'
import type { Db } from '../database/db.ts'
import { AppError } from '../errors.ts'
import { limitConcurrency } from '../lib/concurrency/limit-concurrency.ts'
import { ConfigError } from '../lib/fields.ts'
import { systemClock } from '../lib/time.ts'
import type { Key } from './key.ts'
import { connectSigner } from './providers/connect.ts'
import { type ConnectContext, MissingPackageError } from './providers/provider.ts'
import { describeSigner, providerOf, type SignerConfig } from './providers/registry.ts'
import type { CallLimits } from './remote/call.ts'
import { comparePublicKeys, type RemoteConnection } from './remote/create-remote-key.ts'
import type { PublicKeys } from './remote/remote-key.ts'
import { findRemembered } from './store.ts'

export type { SignerConfig } from './providers/registry.ts'

/** The parts of the service that signers outside this process need. */
interface LoadContext extends CallLimits, Pick<ConnectContext, 'http'> {}

/** A signer whose key another service holds, and the answer of that service at the start. */
interface LoadedRemote {
  readonly connection: RemoteConnection
  /** The public keys, or the failure. */
  readonly answer: PublicKeys | AppError
}

/** The signers of the configuration, by id. */
export interface LoadedSigners {
  readonly keys: ReadonlyMap<string, Key>
  readonly remote: ReadonlyMap<string, LoadedRemote>
}

/**
 * Key services are called for this many signers at a time, so that a start with hundreds is short and no
 * service is flooded.
 */
const ASKED_AT_ONCE = 10

/**
 * Opens every configured signer. Those of this process open one after the other, because a key file can take
 * hundreds of megabytes to decrypt. A key service that does not answer is not a problem yet: its public keys
 * may be known from an earlier start. @throws ConfigError with all that cannot be opened
 */
export async function loadKeys(
  configs: readonly SignerConfig[],
  context: LoadContext,
): Promise<LoadedSigners> {
  const keys = new Map<string, Key>()
  const remote = new Map<string, LoadedRemote>()
  const problems: string[] = []
  const connecting: (() => Promise<void>)[] = []
  for (const config of configs) {
    const provider = providerOf(config)
    const report = (problem: string) => void problems.push(`signer "${config.id}": ${problem}`)
    if (provider.kind === 'remote') {
      connecting.push(() => addRemote(config, context, { remote, report }))
      continue
    }
    const result = await provider.open(config.id, config)
    if (typeof result === 'string') report(result)
    else keys.set(config.id, result)
  }
  const inTurn = limitConcurrency(ASKED_AT_ONCE)
  await Promise.all(connecting.map(inTurn))
  if (problems.length > 0) throw new ConfigError(problems)
  return { keys, remote }
}

interface Results {
  readonly remote: Map<string, LoadedRemote>
  readonly report: (problem: string) => void
}

async function addRemote(
  config: SignerConfig,
  context: LoadContext,
  { remote, report }: Results,
): Promise<void> {
  try {
    const connection = await connectSigner(config, { ...context, clock: systemClock })
    remote.set(config.id, { connection, answer: await ask(connection) })
  } catch (error) {
    if (!(error instanceof MissingPackageError)) throw error
    report(error.message)
  }
}

async function ask(connection: RemoteConnection): Promise<PublicKeys | AppError> {
  try {
    return await connection.publicKeys()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** The keys of the configuration, complete. */
export interface CompleteKeys {
  /** By signer id. */
  readonly keys: ReadonlyMap<string, Key>
  /** The public keys of the signers outside this process, by signer id. */
  readonly publicKeys: ReadonlyMap<string, PublicKeys>
}

/**
 * Completes the keys whose service does not answer with the public keys of an earlier start: the accounts
 * exist, and what they send waits.
 * @throws ConfigError for a service that never answered, and for one that has another key now
 */
export async function completeKeys(
  { keys, remote }: LoadedSigners,
  { db, log, signers }: { readonly db: Db; readonly log: Logger; readonly signers: readonly SignerConfig[] },
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
        'signer unavailable; its transactions wait',
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
