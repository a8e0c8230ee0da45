import { type FieldType, text } from '../../../lib/fields/field-types.ts'
import type { Secret } from '../../../security/secret.ts'
import { readTurnkeyPublicKey } from '../../turnkey/public-key.ts'
import { createStamper } from '../../turnkey/stamp.ts'
import { createTurnkeyClient } from '../../turnkey/turnkey-client.ts'
import { connectTurnkey } from '../../turnkey/turnkey-key.ts'
import type { RemoteProvider } from '../provider.ts'

interface TurnkeyConfig {
  readonly apiPublicKey: string
  readonly apiPrivateKey: Secret
  readonly organizationId: string
  readonly privateKeyId: string
  /** In hex digits. Not in bytes: configurations are frozen, and JavaScript refuses to freeze bytes. */
  readonly publicKey: string
}

const apiPublicKey: FieldType<string> = {
  expected: 'a compressed public key of P-256: 66 hex digits',
  read: (value) => (typeof value === 'string' && /^0[23][0-9a-fA-F]{64}$/.test(value) ? value : undefined),
  blank: '',
}

const publicKey: FieldType<string> = {
  expected: 'a public key in hex digits: 32 bytes of ed25519, or 33 or 65 of secp256k1',
  read: (value) => (typeof value === 'string' && readTurnkeyPublicKey(value) ? value : undefined),
  blank: '',
}

/** A private key or a wallet account of Turnkey. */
export const turnkey: RemoteProvider<TurnkeyConfig> = {
  kind: 'remote',
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => ({
    apiPublicKey: fields.get('api_public_key', apiPublicKey),
    apiPrivateKey: fields.secret('api_private_key'),
    organizationId: fields.get('organization_id', text),
    privateKeyId: fields.get('private_key_id', text),
    publicKey: fields.get('public_key', publicKey),
  }),
  show: (config) => ({
    api_public_key: config.apiPublicKey,
    organization_id: config.organizationId,
    private_key_id: config.privateKeyId,
    public_key: config.publicKey,
  }),
  connect: async (config, context) => {
    const apiKey = { publicKey: config.apiPublicKey, privateKey: config.apiPrivateKey }
    return connectTurnkey({
      ...config,
      publicKeys: readTurnkeyPublicKey(config.publicKey) ?? {},
      turnkey: createTurnkeyClient({ ...context, stamper: createStamper(apiKey) }),
    })
  },
}
