import type { HandlerMap, Schemas } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import type { SignerManager } from '../signers/manage.ts'
import { listSigners, type StoredSigner, shownSigner } from '../signers/store.ts'
import { toPage } from './present/page.ts'

/** The parts of the service that these operations call. */
export interface SignerHandlerDeps {
  readonly db: Db
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
    createSigner: async ({ body }, { actor }) => ({
      data: presentSigner(await signers.create(body, actor)),
    }),
    getSigner: async ({ path }) => ({ data: presentSigner(await signers.get(path.signer_id)) }),
    deleteSigner: async ({ path }, { actor }) => {
      await signers.delete(path.signer_id, actor)
      return { data: 'Signer deleted successfully' }
    },
  }
}

/** Converts a signer to the form of the contract. */
function presentSigner(signer: StoredSigner): Schemas['Signer'] {
  return shownSigner(signer) as Schemas['Signer']
}
