import type { StoredSigner } from './store.ts'

/**
 * Gives the form of a signer that answers and the audit log may show. Existing clients know a private key that the service keeps as `local`.
 */
export function shownSigner({ id, type, config }: Pick<StoredSigner, 'id' | 'type' | 'config'>) {
  return { id, type: type === 'plain' ? 'local' : type, config }
}
