import { createPublicKey } from 'node:crypto'
import type { Curve } from '../signer.ts'
import { type PublicKeys, RemoteFault } from './remote-key.ts'

const CURVES = ['secp256k1', 'ed25519'] as const satisfies readonly Curve[]

/** The number of bytes of a public key. */
const BYTES: Readonly<Record<Curve, number>> = { secp256k1: 65, ed25519: 32 }

/** The first byte of an uncompressed point. */
const UNCOMPRESSED = 0x04

/**
 * Reads a public key in the form of certificates (SubjectPublicKeyInfo, DER or PEM).
 * @throws RemoteFault `refused` for a key of another kind
 */
export function readSpki(key: Uint8Array | string): PublicKeys {
  const { kty, crv, x = '', y = '' } = exported(key)
  if (kty === 'EC' && crv === 'secp256k1') {
    const point = [Buffer.from([UNCOMPRESSED]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]
    return { secp256k1: new Uint8Array(Buffer.concat(point)) }
  }
  if (kty === 'OKP' && crv === 'Ed25519') return { ed25519: new Uint8Array(Buffer.from(x, 'base64url')) }
  throw new RemoteFault('refused', `is of the curve ${crv ?? kty}; relayers need secp256k1 or ed25519`)
}

function exported(key: Uint8Array | string) {
  try {
    return createPublicKey(
      typeof key === 'string' ? key : { key: Buffer.from(key), format: 'der', type: 'spki' },
    ).export({ format: 'jwk' })
  } catch (cause) {
    throw new RemoteFault('unavailable', 'gave a public key that cannot be read', { cause })
  }
}

/** Public keys as they are stored: hex digits, by curve. */
export type StoredPublicKeys = Readonly<Partial<Record<Curve, string>>>

/** Encodes public keys for the database. */
export function encodePublicKeys(keys: PublicKeys): StoredPublicKeys {
  const present = CURVES.flatMap((curve) => {
    const key = keys[curve]
    return key === undefined ? [] : [[curve, Buffer.from(key).toString('hex')]]
  })
  return Object.fromEntries(present)
}

/** @throws Error for text that is not a public key */
export function decodePublicKeys(stored: StoredPublicKeys): PublicKeys {
  const present = CURVES.flatMap((curve) => {
    const text = stored[curve]
    if (text === undefined) return []
    const key = new Uint8Array(Buffer.from(text, 'hex'))
    if (key.length !== BYTES[curve]) throw new Error(`a stored public key has ${key.length} bytes`)
    return [[curve, key]]
  })
  return Object.fromEntries(present)
}

/** Returns true when both have the same keys. */
export function samePublicKeys(one: PublicKeys, other: PublicKeys): boolean {
  return CURVES.every((curve) => Buffer.from(one[curve] ?? []).equals(Buffer.from(other[curve] ?? [])))
}

/** Writes public keys for people. */
export function describePublicKeys(keys: PublicKeys): string {
  return Object.entries(encodePublicKeys(keys))
    .map(([curve, hex]) => `${curve} ${hex}`)
    .join(', ')
}
