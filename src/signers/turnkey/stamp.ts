import { createECDH, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { Secret } from '../../security/secret.ts'
import { RemoteFault } from '../remote/remote-key.ts'

/** An API key of Turnkey: P-256, in hex digits. */
export interface ApiKey {
  /** Compressed, 33 bytes. */
  readonly publicKey: string
  readonly privateKey: Secret
}

/** Makes the header X-Stamp for a body. */
export type Stamper = (body: string) => string

const SCHEME = 'SIGNATURE_SCHEME_TK_API_P256'

/**
 * Creates the stamper of an API key, which Node.js does without a package. The tests compare it with Turnkey's own. The first stamp throws a
 * RemoteFault for a key that is none, or that does not belong to its public key.
 */
export function createStamper({ publicKey, privateKey }: ApiKey): Stamper {
  let key: KeyObject | undefined
  return (body) => {
    key ??= openKey({ publicKey, privateKey })
    const signature = sign('sha256', Buffer.from(body), key).toString('hex')
    return Buffer.from(JSON.stringify({ publicKey, scheme: SCHEME, signature })).toString('base64url')
  }
}

const SECRET_BYTES = 32

function openKey({ publicKey, privateKey }: ApiKey): KeyObject {
  const secret = Buffer.from(privateKey.reveal(), 'hex')
  const ecdh = createECDH('prime256v1')
  try {
    if (secret.length !== SECRET_BYTES) throw new Error('a private key has 32 bytes')
    ecdh.setPrivateKey(secret)
  } catch {
    throw new RemoteFault(
      'refused',
      'cannot be asked: api_private_key is not 32 bytes of a P-256 key in hex digits',
    )
  }
  if (ecdh.getPublicKey('hex', 'compressed') !== publicKey.toLowerCase())
    throw new RemoteFault('refused', 'cannot be asked: api_public_key does not belong to api_private_key')
  const point = ecdh.getPublicKey()
  const encode = (part: Buffer) => part.toString('base64url')
  const [x, y, d] = [encode(point.subarray(1, 33)), encode(point.subarray(33)), encode(secret)]
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d }, format: 'jwk' })
}
