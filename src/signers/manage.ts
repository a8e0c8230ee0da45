import { randomUUID } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import type { Sealer } from '../security/sealer.ts'
import { ownerOf } from './keyring.ts'
import { PRIVATE_KEY_FORMS, parsePrivateKey } from './private-key.ts'
import { deleteSigners, findSigner, insertSigner, lockSigner, type StoredSigner } from './store.ts'

/** A signer as a caller describes it. */
export interface SignerRequest {
  /** The id; a new UUID by default. */
  readonly id?: string | undefined
  /** The private key in one of its written forms. */
  readonly key: string
}

/** The verbs of callers on signers. Signers never change: another key is another signer. */
export interface SignerManager {
  /**
   * Seals and stores a key.
   * @throws AppError 400 without a key to seal with, or for a text that is not a private key; 409 when the id is in use
   */
  create(request: SignerRequest): Promise<StoredSigner>
  /** @throws AppError 404 */
  get(id: string): Promise<StoredSigner>
  /** @throws AppError 404; 400 when relayers sign with it */
  delete(id: string): Promise<void>
}

interface SignerManagerDeps {
  readonly db: Kysely<Schema>
  /** Undefined when the deployment has no STORAGE_ENCRYPTION_KEY. */
  readonly sealer: Sealer | undefined
  /** Returns the ids of the relayers that sign with the signer. */
  readonly usersOf: (tx: Transaction<Schema>, id: string) => Promise<readonly string[]>
}

/** The type of signer that callers can create: the service keeps the key. */
const TYPE = 'plain'

/** Creates the manager of this database's signers. */
export function createSignerManager({ db, sealer, usersOf }: SignerManagerDeps): SignerManager {
  return {
    create: async ({ id = randomUUID(), key }) => {
      const sealed = await seal(sealer, id, key)
      const signer = { id, type: TYPE, sealed }
      if (!(await db.transaction().execute((tx) => insertSigner(tx, signer)))) throw idInUse(id)
      return { id, type: TYPE, origin: 'api' }
    },
    get: async (id) => {
      const signer = await findSigner(db, id)
      if (signer === undefined) throw absent(id)
      return signer
    },
    delete: (id) =>
      db.transaction().execute(async (tx) => {
        if ((await lockSigner(tx, id, 'update')) === undefined) throw absent(id)
        const users = await usersOf(tx, id)
        if (users.length > 0)
          throw new AppError(
            'in_use',
            `Signer ${id} is used by ${users.map((user) => `"${user}"`).join(', ')}; delete what uses it first.`,
          )
        await deleteSigners(tx, [id])
      }),
  }
}

async function seal(sealer: Sealer | undefined, id: string, key: string): Promise<Uint8Array> {
  if (sealer === undefined)
    throw new AppError(
      'not_supported',
      'Signers can be created here only when the deployment has a STORAGE_ENCRYPTION_KEY to store their keys with.',
    )
  const secret = await parsePrivateKey(key)
  if (secret === undefined)
    throw new AppError('invalid_request', `body.config.key: expected ${PRIVATE_KEY_FORMS}.`)
  try {
    return sealer.seal(Buffer.from(secret).toString('hex'), ownerOf(id))
  } finally {
    secret.fill(0)
  }
}

function idInUse(id: string) {
  return new AppError(
    'already_exists',
    `There is a signer with the id ${id} already, or an entry of the configuration file has it.`,
  )
}

function absent(id: string) {
  return new AppError('signer_not_found', `There is no signer ${id}.`)
}
