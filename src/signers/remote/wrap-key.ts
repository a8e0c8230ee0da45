import {
  constants,
  createCipheriv,
  createPublicKey,
  type KeyObject,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import type { Curve } from '../signer.ts'
import { RemoteFault } from './remote-key.ts'

/** A private key on its way into a key service. Its maker overwrites the secret when the import is over. */
export interface KeyMaterial {
  readonly curve: Curve
  /** 32 bytes: the private key of secp256k1, or the seed of ed25519. */
  readonly secret: Uint8Array
  /** As signers have it: 65 bytes, or 32. */
  readonly publicKey: Uint8Array
}

/**
 * PKCS #8 of a key of secp256k1 (RFC 5208, RFC 5915): all bytes before the private key, and those between it
 * and the public key.
 */
const SECP256K1 = [
  Buffer.from('308184020100301006072a8648ce3d020106052b8104000a046d306b0201010420', 'hex'),
  Buffer.from('a144034200', 'hex'),
] as const

/** PKCS #8 of a key of Ed25519 (RFC 8410): all bytes before the seed. */
const ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * Encodes a private key in PKCS #8, as DER. The bytes are put together by hand, because those of Node's
 * parsers cannot be overwritten.
 */
function toPkcs8({ curve, secret, publicKey }: KeyMaterial): Buffer {
  if (curve === 'ed25519') return Buffer.concat([ED25519, secret])
  return Buffer.concat([SECP256K1[0], secret, SECP256K1[1], publicKey])
}

/** AES key wrap with padding (RFC 5649), and its initial value. */
const KEY_WRAP = 'id-aes256-wrap-pad'
const KEY_WRAP_IV = Buffer.from('A65959A6', 'hex')
const AES_KEY_BYTES = 32

/** Encrypts a private key, in PKCS #8, with the public key of a service: RSA-OAEP, SHA-256, also in MGF1. */
export function wrapWithRsa(material: KeyMaterial, publicKey: KeyObject): Buffer {
  const plain = toPkcs8(material)
  try {
    return oaep(publicKey, plain)
  } finally {
    plain.fill(0)
  }
}

/**
 * Encrypts a private key, in PKCS #8, for services that take a key of any length: a new AES key by RSA-OAEP
 * (SHA-256), and after it the private key by AES key wrap with padding. PKCS #11 names this
 * CKM_RSA_AES_KEY_WRAP.
 */
export function wrapWithRsaAes(material: KeyMaterial, publicKey: KeyObject): Buffer {
  const plain = toPkcs8(material)
  const aesKey = randomBytes(AES_KEY_BYTES)
  try {
    const cipher = createCipheriv(KEY_WRAP, aesKey, KEY_WRAP_IV)
    return Buffer.concat([oaep(publicKey, aesKey), cipher.update(plain), cipher.final()])
  } finally {
    plain.fill(0)
    aesKey.fill(0)
  }
}

function oaep(key: KeyObject, plain: Buffer): Buffer {
  return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, plain)
}

/** A shorter key protects less than the key that it is to protect, in bits. */
const SHORTEST_BITS = 2048

/**
 * Reads the public key with which a service requires private keys to be encrypted: PEM, or DER of a
 * SubjectPublicKeyInfo.
 * @throws RemoteFault for anything but an RSA key
 */
export function readWrappingKey(key: string | Uint8Array): KeyObject {
  const found = parse(key)
  if (
    (found?.asymmetricKeyDetails?.modulusLength ?? 0) >= SHORTEST_BITS &&
    found?.asymmetricKeyType === 'rsa'
  )
    return found
  throw new RemoteFault('unavailable', 'returned no RSA key to encrypt the private key with')
}

function parse(key: string | Uint8Array): KeyObject | undefined {
  try {
    return createPublicKey(
      typeof key === 'string' ? key : { key: Buffer.from(key), format: 'der', type: 'spki' },
    )
  } catch {
    return undefined
  }
}
