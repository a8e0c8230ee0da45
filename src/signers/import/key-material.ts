import type { Curve } from '../signer.ts'

/** A private key on its way into a key service. Whoever makes it overwrites the secret when the import is over. */
export interface KeyMaterial {
  readonly curve: Curve
  /** 32 bytes: the private key of secp256k1, or the seed of ed25519. */
  readonly secret: Uint8Array
  /** As signers have it: 65 bytes, or 32. */
  readonly publicKey: Uint8Array
}

/** PKCS #8 of a key of secp256k1 (RFC 5208, RFC 5915): all bytes before the private key, and those between it and the public key. */
const SECP256K1 = [
  Buffer.from('308184020100301006072a8648ce3d020106052b8104000a046d306b0201010420', 'hex'),
  Buffer.from('a144034200', 'hex'),
] as const

/** PKCS #8 of a key of Ed25519 (RFC 8410): all bytes before the seed. */
const ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** Encodes a private key in PKCS #8, as DER. The bytes are put together by hand, because those of Node's parsers cannot be overwritten. */
export function toPkcs8({ curve, secret, publicKey }: KeyMaterial): Buffer {
  if (curve === 'ed25519') return Buffer.concat([ED25519, secret])
  return Buffer.concat([SECP256K1[0], secret, SECP256K1[1], publicKey])
}
