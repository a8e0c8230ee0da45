import type { KeyVaultKey } from '@azure/keyvault-keys'
import { flag } from '../../lib/fields.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { AzureLogin } from '../key-services/azure-identity.ts'
import {
  deniedOr,
  isManagedHsm,
  openKeyClient,
  readLogin,
  statusOf,
  vaultUrl,
} from '../key-services/azure-key-vault.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import { type KeyMaker, type MakerContext, otherKey, type WantedKey } from './key-maker.ts'

interface AzureTarget {
  readonly vaultUrl: string
  readonly login: AzureLogin
  /** In a vault: whether the key is in hardware. A Managed HSM has no others. */
  readonly hardware?: boolean
}

/**
 * Creates keys in Azure Key Vault and Managed HSM. A call with the name of a key that exists makes a new
 * version, so it is made only where there is none; the signer names the version that it found.
 */
export const azureKeyMaker: KeyMaker<AzureTarget> = {
  curves: ['secp256k1'],
  read: (fields) => ({
    vaultUrl: fields.get('vault_url', vaultUrl),
    login: readLogin(fields),
    ...omitUndefined({ hardware: fields.find('hardware', flag) }),
  }),
  show: (target) => ({
    auth_type: target.login.authType,
    vault_url: new URL(target.vaultUrl).origin,
    ...omitUndefined({ hardware: target.hardware }),
  }),
  nameOf: (target) => `Azure Key Vault ${new URL(target.vaultUrl).host}`,
  find,
  create: async (target, key, context) => {
    // The call is not idempotent, and this look costs nothing.
    if ((await find(target, key, context)) === undefined) await create(target, key, context)
    return { kind: 'called' }
  },
  ownFields: ['hardware'],
  advice:
    'To forbid its deletion, enable purge protection on the vault and give no one keys/delete; a deleted key can be recovered for 7 to 90 days. To delete it, once its accounts are empty: az keyvault key delete.',
}

const DENIED =
  'does not let this service create keys: allow it keys/create and keys/read (the role Key Vault Crypto Officer has both), and open the firewall of the vault (status 403)'

async function find(target: AzureTarget, key: WantedKey, context: MakerContext) {
  const { client, faultOf } = await openKeyClient(target, context)
  try {
    return fieldsOf(await client.getKey(key.name), key)
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw deniedOr(error, DENIED, faultOf)
  }
}

async function create(target: AzureTarget, key: WantedKey, context: MakerContext): Promise<void> {
  const { client, faultOf } = await openKeyClient(target, context)
  const isHardware = target.hardware === true || isManagedHsm(target.vaultUrl)
  try {
    await client.createKey(key.name, isHardware ? 'EC-HSM' : 'EC', {
      curve: 'P-256K',
      keyOps: ['sign', 'verify'],
      tags: { 'relayer-signer': key.signerId },
    })
  } catch (error) {
    if (statusOf(error) === 400)
      throw new RemoteFault(
        'refused',
        'creates no key of this kind: keys in hardware need the tier Premium (status 400)',
        { cause: faultOf(error) },
      )
    throw deniedOr(error, DENIED, faultOf)
  }
}

function fieldsOf({ name, properties, key: material }: KeyVaultKey, key: WantedKey) {
  const { version } = properties
  if (name !== key.name || version === undefined) throw new RemoteFault('unavailable', 'returned another key')
  if (!material?.kty?.startsWith('EC') || material.crv !== 'P-256K')
    throw otherKey(key, `is of the type ${material?.crv ?? material?.kty}`)
  if (properties.tags?.['relayer-signer'] !== key.signerId)
    throw otherKey(key, 'has not the tag of the signer')
  return { key_name: name, key_version: version }
}
