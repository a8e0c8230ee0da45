import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../access/principal.ts'
import { appendManagement } from '../../audit/append-store.ts'
import type { Db } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { storableText } from '../../database/sql-helpers.ts'
import { AppError } from '../../errors.ts'
import { omitUndefined } from '../../lib/object.ts'
import { backoffMs, type Clock } from '../../lib/time.ts'
import type { Sealer } from '../../security/secrets.ts'
import { ownerOf } from '../keyring.ts'
import { type ConnectionContext, connectSigner } from '../providers/connect.ts'
import { MissingPackageError } from '../providers/provider.ts'
import { describeSigner, type SignerConfig } from '../providers/registry.ts'
import {
  readRequestedConfig,
  readRequestedFields,
  type SignerRequest,
  toSealedText,
} from '../providers/sealed-config.ts'
import { encodePublicKeys, type PublicKeys, RemoteFault } from '../remote/remote-key.ts'
import { evmAddress } from '../secp256k1.ts'
import { type Curve, isSignerFault, signerRefused, signerUnavailable } from '../signer.ts'
import { findSigner, insertSigner, isIdTaken, shownSigner } from '../store.ts'
import {
  type Addresses,
  deleteCreation,
  findCreation,
  insertCreation,
  type KeyCreation,
  noteFailure,
  noteMade,
  noteUsable,
  reserveCall,
} from './creation-store.ts'
import { type KeyFields, keyNameOf, type MakerContext, type WantedKey } from './key-maker.ts'
import { type CreatingType, type Maker, makerOf } from './makers.ts'

/** A request for a key of a key service, and for the signer that names it. */
export interface KeyRequest {
  readonly signerId: string
  readonly type: CreatingType
  readonly curve: Curve
  /** The configuration of the signer without its key. */
  readonly config: object
}

/** Lets key services create keys for signers. Callers learn addresses, and never a secret. */
export interface KeyCreator {
  /**
   * Stores the intent, lets the key service create the key, proves that it signs, and stores the signer. The
   * same request again continues where the last one stopped, and never creates a second key.
   * @param signal aborts when the caller no longer waits
   * @throws AppError 400 without a key to seal with, for a curve or a place that does not fit, and when the
   * service refuses; 409 when the id is in use; 500 when the service does not answer: the intent is kept then
   */
  create(request: KeyRequest, actor: Actor, signal: AbortSignal): Promise<KeyCreation>
  /** Forgets a creation. The key, if there is one, stays where it is. @throws AppError 404; 400 during a call */
  forget(signerId: string, actor: Actor): Promise<void>
}

interface KeyCreatorDeps {
  readonly db: Db
  readonly clock: Clock
  /** Undefined if the deployment has no STORAGE_ENCRYPTION_KEY. */
  readonly sealer: Sealer | undefined
  /** Calls the key services that callers name. */
  readonly connection: ConnectionContext
}

/** A call that creates a key may take this many times as long as one that signs: hardware needs seconds for it. */
const MORE_TIME = 5

/**
 * The time in ms after which a call that was not answered has arrived or never will, and in which lists of
 * the key service show what it did. Before, no second call is made.
 */
const CALL_LASTS_MS = 60_000

/** Services need seconds until a new key can sign everywhere. The pauses between the proofs are in ms. */
const PROOFS = 6
const PAUSES = { baseMs: 250, maxMs: 4_000, random: Math.random, jitter: 'equal' } as const

/** A request, with everything that its steps need. */
interface Job {
  readonly request: KeyRequest
  readonly maker: Maker
  readonly creation: KeyCreation
  readonly context: MakerContext
  /** Names the place of the key in sentences. */
  readonly targetName: string
}

/** Creates the creator of this database's keys. */
export function createKeyCreator({ db, clock, sealer, connection }: KeyCreatorDeps): KeyCreator {
  const now = () => new Date(clock.now())

  /** Stores the intent, or finds that of an equal request. */
  async function begin(request: KeyRequest, shown: object, actor: Actor): Promise<KeyCreation> {
    const { signerId, type, curve } = request
    const wanted = {
      ...{ signerId, type, curve, config: shown },
      keyName: keyNameOf(signerId, randomBytes(8).toString('hex')),
      createdAt: now(),
    }
    const isNew = await transact(db, async (tx) => {
      if ((await findCreation(tx, signerId)) === undefined && (await isIdTaken(tx, signerId)))
        throw idInUse(signerId)
      if (!(await insertCreation(tx, wanted))) return false
      const after = { type, curve, config: shown }
      await appendManagement(tx, { author: actor, action: 'createKey', target: targetOf(signerId), after })
      return true
    })
    if (isNew) return { ...wanted, state: 'requested' }
    const found = await findCreation(db, signerId)
    const isSame = found?.type === type && found.curve === curve && isDeepStrictEqual(found.config, shown)
    if (found === undefined || !isSame) throw otherRequest(signerId)
    return found
  }

  /** Finds the key, or lets the service create it. Returns a sentence while the service waits for something. */
  async function obtain(job: Job): Promise<KeyFields | string> {
    const { creation, maker, context } = job
    const wanted = wantedBy(creation)
    // No one else can have the name, so before the first call there is nothing to look for.
    if (creation.callUntil !== undefined) {
      const found = await maker.find(wanted, context).catch((error: unknown) => stay(job, error))
      if (found !== undefined) return found
    }
    const until = new Date(clock.now() + CALL_LASTS_MS)
    if (!(await reserveCall(db, creation.signerId, { now: now(), until }))) throw await underWay(job)
    const answer = await maker.create(wanted, context).catch((error: unknown) => afterCall(job, error, until))
    if (answer.kind === 'made') return answer.fields
    if (answer.kind === 'called') {
      const found = await maker.find(wanted, context).catch((error: unknown) => stay(job, error))
      return found ?? stay(job, new RemoteFault('unavailable', 'does not show the created key yet'))
    }
    const problem = `${job.targetName} ${answer.detail}.`
    await noteFailure(db, creation.signerId, { callUntil: now(), problem })
    return problem
  }

  /** Another request is at it, or the answer of the last call was lost a moment ago. */
  async function underWay({ creation, targetName }: Job): Promise<AppError> {
    const { callUntil } = (await findCreation(db, creation.signerId)) ?? creation
    return signerUnavailable(
      `${targetName}: a call that creates key ${creation.keyName} may still be on its way. Repeat this request${callUntil ? ` after ${callUntil.toISOString()}` : ''}: the key is looked for before another call is made.`,
    )
  }

  /** A failure that says nothing about the key: the intent stays as it is. */
  async function stay(job: Job, error: unknown): Promise<never> {
    const failure = translate(job, error)
    await noteFailure(db, job.creation.signerId, { problem: failure.detail })
    throw failure
  }

  /** A call that failed has created nothing if the service refused it. Without an answer no one knows. */
  async function afterCall(job: Job, error: unknown, until: Date): Promise<never> {
    const failure = translate(job, error)
    const { signerId, callUntil: before } = job.creation
    const isAnswered =
      error instanceof MissingPackageError || (error instanceof RemoteFault && error.kind !== 'unavailable')
    if (!isAnswered) {
      const detail = `${failure.detail} It may have created key ${job.creation.keyName}. Repeat this request after ${until.toISOString()}: the key is looked for before another call is made.`
      await noteFailure(db, signerId, { problem: detail })
      throw new AppError(failure.code, detail, { cause: error })
    }
    await noteFailure(db, signerId, {
      callUntil: before === undefined ? null : now(),
      problem: failure.detail,
    })
    // The first call was refused, so there is no key, and nothing to continue.
    if (before === undefined && failure.code !== 'signer_unavailable')
      await transact(db, (tx) => deleteCreation(tx, signerId, now()))
    throw failure
  }

  /** Proves that the key signs. A key that has just been created can need a moment. */
  async function prove(job: Job, config: SignerConfig, proofs: number): Promise<PublicKeys> {
    for (let proof = 1; ; proof += 1) {
      try {
        const remote = await connectSigner(config, { ...connection, ...job.context, repetitions: 0 })
        const publicKeys = await remote.publicKeys()
        if (publicKeys[job.creation.curve] === undefined)
          throw signerRefused(`${remote.name} has no key of ${job.creation.curve}.`)
        await remote.prove(publicKeys)
        return publicKeys
      } catch (error) {
        if (!isSignerFault(error) || proof >= proofs) throw error
      }
      await clock.sleep(backoffMs(proof, PAUSES))
    }
  }

  /** Proves the key, and stores the signer. */
  async function finish(job: Job, sealing: Sealer, { fields, isNew }: Made, actor: Actor): Promise<void> {
    const { request, creation } = job
    const { signerId } = creation
    const given = Object.entries(request.config).filter(([name]) => !job.maker.ownFields.has(name))
    const signer: SignerRequest = { type: request.type, config: { ...Object.fromEntries(given), ...fields } }
    const problems: string[] = []
    const config = readRequestedConfig(signerId, signer, { path: 'config', problems })
    if (config === undefined) throw new Error(`a created key cannot be configured: ${problems.join('; ')}`)
    const publicKeys = await prove(job, config, isNew ? PROOFS : 1).catch(async (error: unknown) => {
      if (!isSignerFault(error)) throw error
      const detail = `${error.detail} The key is there (${creation.keyName}); the signer is stored when it signs. Repeat this request then.`
      await noteFailure(db, signerId, { problem: detail })
      throw new AppError(error.code, detail, { cause: error })
    })
    const { config: shown } = describeSigner(config)
    const sealed = sealing.seal(toSealedText(signer), ownerOf(signerId))
    const addresses = await addressesOf(publicKeys)
    await transact(db, async (tx) => {
      const row = { id: signerId, type: request.type, sealed, config: shown }
      if (!(await insertSigner(tx, { ...row, publicKeys: encodePublicKeys(publicKeys) })))
        throw idInUse(signerId)
      if (!(await noteUsable(tx, signerId, addresses))) throw absent(signerId)
      const after = shownSigner({ id: signerId, type: request.type, config: shown ?? {} })
      await appendManagement(tx, { author: actor, action: 'createSigner', target: targetOf(signerId), after })
    })
  }

  return {
    create: async (request, actor, signal) => {
      if (sealer === undefined) throw noSealer()
      const { maker, shown, name } = openTarget(request)
      const creation = await begin(request, shown, actor)
      const { signerId } = creation
      const signer = creation.state === 'usable' ? await findSigner(db, signerId) : undefined
      if (signer?.origin === 'file') throw idInUse(signerId)
      if (signer !== undefined) return creation
      const timeoutMs = connection.timeoutMs * MORE_TIME
      const context = { http: connection.http, timeoutMs, signal }
      const job: Job = { request, maker, creation, context, targetName: name }
      const known = creation.keyFields
      const fields = known ?? (await obtain(job))
      if (typeof fields !== 'string') {
        if (known === undefined) await noteMade(db, signerId, fields)
        await finish(job, sealer, { fields, isNew: known === undefined }, actor)
      }
      const stored = await findCreation(db, signerId)
      if (stored === undefined) throw absent(signerId)
      return stored
    },
    forget: (signerId, actor) =>
      transact(db, async (tx) => {
        const { found, isDeleted } = await deleteCreation(tx, signerId, now())
        if (found === undefined) throw absent(signerId)
        if (!isDeleted) throw onItsWay(found)
        const { type, curve, config, state, keyName } = found
        const before = { type, curve, config, state, key_name: keyName }
        await appendManagement(tx, {
          author: actor,
          action: 'forgetKeyCreation',
          target: targetOf(signerId),
          before,
        })
      }),
  }
}

interface Made {
  readonly fields: KeyFields
  /** True if this request found or created the key. */
  readonly isNew: boolean
}

interface Target {
  readonly maker: Maker
  /** The public part. */
  readonly shown: object
  readonly name: string
}

/** @throws AppError for a curve that the service does not have, and for a place that is none */
function openTarget({ type, curve, config }: KeyRequest): Target {
  const problems: string[] = []
  const opened = readRequestedFields(config, { path: 'body.config', problems }, (fields) =>
    makerOf(type, curve, fields),
  )
  if (opened === undefined || problems.length > 0)
    throw new AppError('invalid_request', `${problems.join('; ')}.`)
  if (typeof opened === 'string') throw new AppError('not_supported', `body.curve: ${opened}`)
  if (!isStorable(opened.shown))
    throw new AppError('invalid_request', 'body.config: has a text with characters that no name has.')
  return opened
}

/** PostgreSQL stores neither a null character nor half of a surrogate pair. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value === storableText(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(isStorable)
}

function wantedBy({ signerId, curve, keyName, createdAt }: KeyCreation): WantedKey {
  return { signerId, curve, name: keyName, chosenAt: createdAt }
}

function translate({ targetName }: Pick<Job, 'targetName'>, error: unknown): AppError {
  if (error instanceof MissingPackageError)
    return new AppError('not_supported', `body.type: ${error.message}.`, { cause: error })
  if (!(error instanceof RemoteFault))
    return signerUnavailable(`${targetName} returned no usable response.`, error)
  const detail = `${targetName} ${error.message}.`
  return error.kind === 'refused' ? signerRefused(detail, error) : signerUnavailable(detail, error)
}

/** The accounts of a key that every network type uses as it is. */
async function addressesOf({ secp256k1, ed25519 }: PublicKeys): Promise<Addresses> {
  const { solanaAddress, stellarAddress } = await import('../ed25519.ts')
  return omitUndefined({
    evm: secp256k1 && evmAddress(secp256k1),
    solana: ed25519 && solanaAddress(ed25519),
    stellar: ed25519 && stellarAddress(ed25519),
  })
}

function targetOf(id: string) {
  return { type: 'signer', id } as const
}

function noSealer() {
  return new AppError(
    'not_supported',
    'Signers can only be created over the API if the deployment has a STORAGE_ENCRYPTION_KEY.',
  )
}

function idInUse(id: string) {
  return new AppError(
    'already_exists',
    `There is a signer with the id ${id} already, or an entry of the configuration file has it.`,
  )
}

function otherRequest(id: string) {
  return new AppError(
    'already_exists',
    `A key for signer ${id} was requested with another type, curve or config. Repeat that request, choose another signer_id, or forget it: DELETE /api/v1/key-creations/${id}.`,
  )
}

function onItsWay({ signerId, callUntil }: KeyCreation) {
  return new AppError(
    'in_use',
    `A call that creates the key of signer ${signerId} may still be on its way. Try again after ${callUntil?.toISOString()}.`,
  )
}

function absent(id: string) {
  return new AppError('signer_not_found', `No key was requested for a signer ${id}.`)
}
