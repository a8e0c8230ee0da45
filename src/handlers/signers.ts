import type { Kysely } from 'kysely'
import type { HandlerMap, Schemas } from '../contract/operations.ts'
import type { Schema } from '../database/schema.ts'
import type { SignerManager } from '../signers/manage.ts'
import { listSigners, type StoredSigner } from '../signers/store.ts'
import { toPage } from './present/page.ts'

/** The parts of the service that these operations call. */
export interface SignerHandlerDeps {
  readonly db: Kysely<Schema>
  readonly signers: SignerManager
}

type Operations = 'listSigners' | 'createSigner' | 'getSigner' | 'deleteSigner'

/** The operations of the tag Signers. */
export function signerHandlers({ db, signers }: SignerHandlerDeps): Pick<HandlerMap, Operations> {
  return {
    listSigners: async ({ query }) => {
      const page = toPage(query)
      const { items, total } = await listSigners(db, page)
      return { data: items.map(presentSigner), pagination: page.describe(total) }
    },
    createSigner: async ({ body }) => ({
      data: presentSigner(await signers.create(body)),
    }),
    getSigner: async ({ path }) => ({ data: presentSigner(await signers.get(path.signer_id)) }),
    deleteSigner: async ({ path }) => {
      await signers.delete(path.signer_id)
      return { data: 'Signer deleted successfully' }
    },
  }
}

/** Converts a signer to the form of the contract. Existing clients know a private key that the service keeps as `local`. */
function presentSigner({ id, type, config }: StoredSigner): Schemas['Signer'] {
  const shown = type === 'plain' ? 'local' : type
  return { id, type: shown, config } as Schemas['Signer']
}
