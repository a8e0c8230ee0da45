import { httpUrl, text } from '../../../lib/fields/field-types.ts'
import type { VaultConfig } from '../../vault/vault-client.ts'
import type { SignerFields } from '../provider.ts'

/** The fields that every signer in a Vault has. */
export interface VaultSignerConfig extends VaultConfig {
  readonly keyName: string
  readonly mountPoint: string
}

/** Reads them. `mountPoint` is the default of the engine. */
export function readVaultFields(fields: SignerFields, mountPoint: string): VaultSignerConfig {
  const namespace = fields.find('namespace', text)
  return {
    address: fields.get('address', httpUrl),
    ...(namespace && { namespace }),
    roleId: fields.secret('role_id'),
    secretId: fields.secret('secret_id'),
    keyName: fields.get('key_name', text),
    mountPoint: fields.find('mount_point', text) ?? mountPoint,
  }
}

/** Returns the fields that everybody may see. The url shows its origin alone, because paths and users can be secret. */
export function showVaultFields({ address, namespace, keyName, mountPoint }: VaultSignerConfig) {
  return {
    address: new URL(address).origin,
    ...(namespace && { namespace }),
    key_name: keyName,
    mount_point: mountPoint,
  }
}
