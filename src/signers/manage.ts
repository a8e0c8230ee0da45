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
  /** A new UUID when absent. */
  readonly id?: string | undefined
  /** The private key in one of its written forms. */
  readonly key: string
}

/** What callers can do about signers. There is no change: another key is another signer. */
export interface SignerManager {
  /**
   * Stores a key, sealed.
   * @throws AppError 400 without a key to seal with, or when this is no private key; 409 when the id is taken
   */
  create(request: SignerRequest): Promise<StoredSigner>
  /** @throws AppError 404 */
  get(id: string): Promise<StoredSigner>
  /** @throws AppError 404; 400 when relayers sign with it */
  delete(id: string): Promise<void>
}

interface SignerManagerDeps {
  readonly db: Kysely<Schema>
  /** Absent when the deployment has no STORAGE_ENCRYPTION_KEY. */
  readonly sealer: Sealer | undefined
  /** The relayers that sign with it, by id. */
  readonly usersOf: (tx: Transaction<Schema>, id: string) => Promise<readonly string[]>
}

/** The kind of signer that callers can create: the service holds the key. */
const TYPE = 'plain'

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
