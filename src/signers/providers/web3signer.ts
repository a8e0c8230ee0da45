import { type FieldType, httpUrl } from '../../lib/fields/field-types.ts'
import { createTlsClient, type TlsPaths } from '../web3signer/tls-client.ts'
import { connectWeb3Signer } from '../web3signer/web3signer-key.ts'
import type { RemoteProvider, SignerFields } from './provider.ts'

interface Web3SignerConfig {
  /** The url of the server, e.g. `https://signer.example.com:9000`. */
  readonly url: string
  /** 128 hex digits. */
  readonly publicKey: string
  /** In the configuration file alone. */
  readonly tls?: TlsPaths
}

const publicKey: FieldType<string> = {
  expected: 'a public key as Web3Signer lists it: 128 hex digits, with or without 0x',
  read: (value) =>
    typeof value === 'string' ? /^(?:0x)?([0-9a-fA-F]{128})$/.exec(value)?.[1]?.toLowerCase() : undefined,
  blank: '',
}

/** A key of secp256k1 behind Web3Signer's API for execution keys (eth1). */
export const web3signer: RemoteProvider<Web3SignerConfig> = {
  kind: 'remote',
  curves: ['secp256k1'],
  read: (fields) => {
    const tls = fields.findObject('tls', readTls)
    return {
      url: fields.get('url', httpUrl),
      publicKey: fields.get('public_key', publicKey),
      ...(tls && { tls }),
    }
  },
  // The url shows its origin alone, because paths and users can be secret.
  show: (config) => ({ url: new URL(config.url).origin, public_key: `0x${config.publicKey}` }),
  connect: async ({ url, publicKey: key, tls }, { http, timeoutMs }) =>
    connectWeb3Signer({ url, publicKey: key, timeoutMs, http: tls ? createTlsClient(tls) : http }),
}

function readTls(fields: SignerFields): TlsPaths {
  const caPath = fields.findPath('ca_path')
  const pair = { certPath: fields.path('cert_path'), keyPath: fields.path('key_path') }
  return caPath === undefined ? pair : { ...pair, caPath }
}
