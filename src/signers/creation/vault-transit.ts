import { flag, text } from '../../lib/fields.ts'
import { createVaultClient, pathOf, readVaultLogin, type VaultConfig } from '../key-services/vault.ts'
import { type JsonObject, objectIn, textIn } from '../remote/answers.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import { type KeyMaker, type MakerContext, otherKey, type WantedKey } from './key-maker.ts'

interface TransitTarget extends VaultConfig {
  readonly mountPoint: string
  /** True if Vault may ever hand out the key. It cannot be set back to false. */
  readonly exportable: boolean
}

/** Creates keys in the transit engine of Vault, which has no secp256k1. A second call for a name does nothing. */
export const transitKeyMaker: KeyMaker<TransitTarget> = {
  curves: ['ed25519'],
  read: (fields) => ({
    ...readVaultLogin(fields),
    mountPoint: fields.find('mount_point', text) ?? 'transit',
    exportable: fields.find('exportable', flag) ?? false,
  }),
  show: ({ address, namespace, mountPoint, exportable }) => ({
    address: new URL(address).origin,
    ...(namespace && { namespace }),
    mount_point: mountPoint,
    exportable,
  }),
  nameOf: (target) => `Vault at ${new URL(target.address).host}, engine ${target.mountPoint},`,
  find: async (target, key, context) => {
    const found = await read(target, key, context)
    return found && fieldsOf(target, key, found)
  },
  create: async (target, key, context) => {
    const { exportable, mountPoint } = target
    const body = { type: 'ed25519', exportable, allow_plaintext_backup: false }
    try {
      const vault = createVaultClient(target, context)
      await vault({ method: 'POST', path: pathOf(mountPoint, 'keys', key.name), body })
    } catch (error) {
      throw refusal(error)
    }
    return { kind: 'called' }
  },
  ownFields: ['exportable'],
  advice:
    'Vault deletes the key only after someone sets deletion_allowed on transit/keys/NAME/config: give no one that path. To delete it, once its accounts are empty, set it and run: vault delete transit/keys/NAME.',
}

async function read(target: TransitTarget, key: WantedKey, context: MakerContext) {
  const vault = createVaultClient(target, context)
  try {
    return await vault({ method: 'GET', path: pathOf(target.mountPoint, 'keys', key.name) })
  } catch (error) {
    if (isStatus(error, 404)) return undefined
    throw refusal(error)
  }
}

/** Vault answers 404 for a name without a key, and for a path without an engine. */
function isStatus(error: unknown, status: number): boolean {
  return error instanceof RemoteFault && error.message.includes(`(status ${status})`)
}

function refusal(error: unknown): unknown {
  if (isStatus(error, 404))
    return new RemoteFault('refused', 'is not there: enable it, or name its mount_point (status 404)', {
      cause: error,
    })
  if (!(error instanceof RemoteFault) || !error.message.startsWith('is denied')) return error
  return new RemoteFault(
    'refused',
    'does not let this service create keys: allow its policy "create", "update" and "read" on the keys of the engine (status 403)',
    { cause: error },
  )
}

/** The first version is the key of the signer: a rotation makes another one. */
function fieldsOf(target: TransitTarget, key: WantedKey, found: JsonObject) {
  if (textIn(found, 'type') !== 'ed25519') throw otherKey(key, `has the type ${textIn(found, 'type')}`)
  if (found.imported_key === true) throw otherKey(key, 'was imported')
  if (found.exportable !== target.exportable) throw otherKey(key, 'can be exported otherwise')
  if (found.allow_plaintext_backup === true) throw otherKey(key, 'can be backed up in plain text')
  const pubkey = textIn(objectIn(objectIn(found, 'keys'), '1'), 'public_key')
  if (pubkey === '') throw new RemoteFault('unavailable', 'returned no public key')
  return { key_name: key.name, pubkey }
}
