import { storeInVault } from '../../vault/import-into-vault.ts'
import { connectStoredKey } from '../../vault/stored-key.ts'
import { createVaultClient } from '../../vault/vault-client.ts'
import type { RemoteProvider } from '../provider.ts'
import { readVaultFields, showVaultFields, type VaultSignerConfig } from './vault-fields.ts'

/** A private key that HashiCorp Vault or OpenBao stores (KV version 2). */
export const vault: RemoteProvider<VaultSignerConfig> = {
  kind: 'remote',
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => readVaultFields(fields, 'secret'),
  show: showVaultFields,
  connect: async (config, context) =>
    connectStoredKey({ ...config, vault: createVaultClient(config, context) }),
  importKey: async (config, context, material) =>
    storeInVault({ ...config, vault: createVaultClient(config, context) }, material),
}
