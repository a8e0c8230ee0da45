import type { FieldType } from '../../../lib/fields/field-types.ts'
import { importIntoTransit } from '../../vault/import-into-vault.ts'
import { connectTransitKey } from '../../vault/transit-key.ts'
import { createVaultClient } from '../../vault/vault-client.ts'
import type { RemoteProvider } from '../provider.ts'
import { readVaultFields, showVaultFields, type VaultSignerConfig } from './vault-fields.ts'

interface VaultTransitConfig extends VaultSignerConfig {
  /** The public key in base64. */
  readonly pubkey: string
}

const PUBLIC_KEY_BYTES = 32

/** Vault writes public keys in base64. */
const publicKey: FieldType<string> = {
  expected: 'an ed25519 public key: 32 bytes in base64',
  read: (value) =>
    typeof value === 'string' &&
    /^[A-Za-z0-9+/]{43}=$/.test(value) &&
    decode(value).length === PUBLIC_KEY_BYTES
      ? value
      : undefined,
  blank: '',
}

/** An ed25519 key of the transit engine of HashiCorp Vault or OpenBao. */
export const vaultTransit: RemoteProvider<VaultTransitConfig> = {
  kind: 'remote',
  curves: ['ed25519'],
  read: (fields) => ({ ...readVaultFields(fields, 'transit'), pubkey: fields.get('pubkey', publicKey) }),
  show: (config) => ({ ...showVaultFields(config), pubkey: config.pubkey }),
  connect: async (config, context) =>
    connectTransitKey({
      ...config,
      vault: createVaultClient(config, context),
      publicKey: decode(config.pubkey),
    }),
  importKey: async (config, context, material) => {
    const vault = createVaultClient(config, context)
    await importIntoTransit({ ...config, vault, publicKey: decode(config.pubkey) }, material)
  },
}

function decode(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'))
}
