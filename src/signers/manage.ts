import { randomUUID } from 'node:crypto'
import type { Actor } from '../access/principal.ts'
import { appendManagement } from '../audit/append-store.ts'
import type { Db, Tx } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { AppError } from '../errors.ts'
import type { Sealer } from '../security/secrets.ts'
import { findCreation } from './creation/creation-store.ts'
import { addressesOf, createSeparateKey, generateSecret, PRIVATE_KEY_FORMS, parsePrivateKey } from './key.ts'
import { ownerOf } from './keyring.ts'
import { type ConnectionContext, connectSigner } from './providers/connect.ts'
import { MissingPackageError } from './providers/provider.ts'
import { describeSigner, providerOf, type SignerConfig } from './providers/registry.ts'
import { readRequestedConfig, type SignerRequest, toSealedText } from './providers/sealed-config.ts'
import { encodePublicKeys, type StoredPublicKeys } from './remote/remote-key.ts'
import {
  deleteSigners,
  findSigner,
  GENERATED,
  insertSigner,
  lockSigner,
  type StoredSigner,
  shownSigner,
} from './store.ts'

/** A key that the service creates. */
interface GeneratedRequest {
  readonly type: typeof GENERATED
}

/** A request for a new signer. */
export type NewSignerRequest = (SignerRequest | GeneratedRequest) & {
  /** The id; a new UUID by default. */
  readonly id?: string | undefined
}

/**
 * The verbs of callers on signers, each of which the audit log records. Signers never change: another key is
 * another signer.
 */
export interface SignerManager {
  /**
   * Proves that the key signs, or creates one, seals its configuration and stores it.
   * @throws AppError 400 without a key to seal with, for a configuration that is not one, for a key that its
   * service refuses, and when the service does not answer; 409 when the id is in use
   */
  create(request: NewSignerRequest, actor: Actor): Promise<StoredSigner>
  /** @throws AppError 404 */
  get(id: string): Promise<StoredSigner>
  /** @throws AppError 404; 400 when relayers sign with it */
  delete(id: string, actor: Actor): Promise<void>
}

interface SignerManagerDeps {
  readonly db: Db
  /** Undefined if the deployment has no STORAGE_ENCRYPTION_KEY. */
  readonly sealer: Sealer | undefined
  /** Calls the key services that callers name. */
  readonly connection: ConnectionContext
  /** Returns the ids of the relayers that sign with the signer. */
  readonly usersOf: (tx: Tx, id: string) => Promise<readonly string[]>
}

/** Creates the manager of this database's signers. */
export function createSignerManager({ db, sealer, connection, usersOf }: SignerManagerDeps): SignerManager {
  return {
    create: async ({ id = randomUUID(), ...request }, actor) => {
      if (sealer === undefined) throw noSealer()
      const { text, publicKeys, config } =
        request.type === GENERATED ? await generate(id) : await prepareSecret(connection, id, request)
      const signer = { id, type: request.type, sealed: sealer.seal(text, ownerOf(id)), publicKeys, config }
      const stored: StoredSigner = { id, type: request.type, origin: 'api', config: config ?? {} }
      await transact(db, async (tx) => {
        if ((await findCreation(tx, id)) !== undefined) throw ofCreatedKey(id)
        if (!(await insertSigner(tx, signer))) throw idInUse(id)
        const after = shownSigner(stored)
        await appendManagement(tx, { author: actor, action: 'createSigner', target: targetOf(id), after })
      })
      return stored
    },
    get: async (id) => {
      const signer = await findSigner(db, id)
      if (signer === undefined) throw absent(id)
      return signer
    },
    delete: (id, actor) =>
      transact(db, async (tx) => {
        const signer = await lockSigner(tx, id, 'update')
        if (signer === undefined) throw absent(id)
        const users = await usersOf(tx, id)
        if (users.length > 0)
          throw new AppError(
            'in_use',
            `Signer ${id} is used by ${users.map((user) => `"${user}"`).join(', ')}; delete what uses it first.`,
          )
        await deleteSigners(tx, [id])
        const before = shownSigner(signer)
        await appendManagement(tx, { author: actor, action: 'deleteSigner', target: targetOf(id), before })
      }),
  }
}

function targetOf(id: string) {
  return { type: 'signer', id } as const
}

/** The parts of a new signer. */
interface Prepared {
  /** The text to seal. */
  readonly text: string
  /** The public part of its configuration. */
  readonly config?: object | undefined
  readonly publicKeys?: StoredPublicKeys
}

/** Every network type has a key of its own, as with key files: no signature for one is one for another. */
async function generate(id: string): Promise<Prepared> {
  const secret = generateSecret()
  try {
    const addresses = await addressesOf(createSeparateKey(id, secret))
    return { text: Buffer.from(secret).toString('hex'), config: { addresses } }
  } finally {
    secret.fill(0)
  }
}

async function prepareSecret(
  connection: ConnectionContext,
  id: string,
  request: SignerRequest,
): Promise<Prepared> {
  const problems: string[] = []
  const read = readRequestedConfig(id, request, { path: 'body.config', problems })
  if (read === undefined) throw new AppError('invalid_request', `${problems.join('; ')}.`)
  if (read.type === 'plain') return { text: await readPrivateKey(read.key.reveal()) }
  const { config } = describeSigner(read)
  const text = toSealedText(request)
  if (providerOf(read).kind === 'remote')
    return { text, config, publicKeys: await proveRemote(connection, read) }
  await openLocal(read)
  return { text, config }
}

/** Private keys are stored as hex digits, regardless of the caller's format. */
async function readPrivateKey(key: string): Promise<string> {
  const secret = await parsePrivateKey(key)
  if (secret === undefined)
    throw new AppError('invalid_request', `body.config.key: expected ${PRIVATE_KEY_FORMS}.`)
  try {
    return Buffer.from(secret).toString('hex')
  } finally {
    secret.fill(0)
  }
}

async function openLocal(config: SignerConfig): Promise<void> {
  const provider = providerOf(config)
  const key = provider.kind === 'local' ? await provider.open(config.id, config) : undefined
  if (typeof key === 'string') throw new AppError('invalid_request', `body.config: ${key}.`)
}

async function proveRemote(context: ConnectionContext, config: SignerConfig): Promise<StoredPublicKeys> {
  try {
    // The caller waits for the answer, and can repeat the request.
    const connection = await connectSigner(config, { ...context, repetitions: 0 })
    const publicKeys = await connection.publicKeys()
    await connection.prove(publicKeys)
    return encodePublicKeys(publicKeys)
  } catch (error) {
    if (error instanceof AppError && error.code === 'signer_unavailable')
      throw new AppError(
        'invalid_request',
        `body.config: ${error.detail} The signer is stored only after its service has answered once; try again.`,
        { cause: error },
      )
    if (!(error instanceof MissingPackageError)) throw error
    throw new AppError('not_supported', `body.type: ${error.message}.`, { cause: error })
  }
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

function ofCreatedKey(id: string) {
  return new AppError(
    'already_exists',
    `The id ${id} belongs to a key that a key service created or is to create. Send its request again (POST /api/v1/key-creations), or forget it first: DELETE /api/v1/key-creations/${id}.`,
  )
}

function absent(id: string) {
  return new AppError('signer_not_found', `There is no signer ${id}.`)
}
