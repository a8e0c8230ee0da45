import { createPublicKey } from 'node:crypto'
import type { Curve } from '../signer.ts'

/** The public keys of one signer, by curve: uncompressed (65 bytes) for secp256k1, 32 bytes for ed25519. */
export type PublicKeys = Readonly<Partial<Record<Curve, Uint8Array>>>

/** A payload for a key outside this process. */
export interface SignRequest {
  readonly curve: Curve
  /**
   * A digest of 32 bytes for secp256k1, or the message where the service hashes it; the message itself for
   * ed25519.
   */
  readonly payload: Uint8Array
  /** Aborts when the time of the call is over. */
  readonly signal: AbortSignal
}

/**
 * A key that a service outside this process holds. It translates requests and errors of that service and
 * nothing else: the room around it (`create-remote-key.ts`) limits, repeats and verifies. Every failure is a
 * `RemoteFault`; any other error counts as `unavailable`.
 */
export interface RemoteKey {
  /**
   * Names the key in sentences for people, e.g. `AWS KMS key alias/relayer in eu-west-1`. It contains no
   * secret.
   */
  readonly name: string
  /** True if the service itself hashes messages for secp256k1 with keccak-256, and signs no digests. */
  readonly hashesMessages?: true
  /**
   * Set where the service signs nothing with a key of ed25519 but transactions and texts of one network type.
   */
  readonly ed25519For?: 'solana'
  readonly publicKeys: (signal: AbortSignal) => Promise<PublicKeys>
  /** Returns 64 bytes: r and s for secp256k1, the signature of RFC 8032 for ed25519. */
  readonly sign: (request: SignRequest) => Promise<Uint8Array>
}

/**
 * The kinds of failure. `unavailable`: no answer, or one that says nothing · `throttled`: too many calls ·
 * `refused`: a call of the same kind fails until an operator acts.
 */
export type RemoteFaultKind = 'unavailable' | 'throttled' | 'refused'

/** A failure of a key service. The message completes "<name of the key> …" and contains no secret. */
export class RemoteFault extends Error {
  override readonly name = 'RemoteFault'
  readonly kind: RemoteFaultKind

  constructor(kind: RemoteFaultKind, message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.kind = kind
  }
}

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
    throw new RemoteFault('unavailable', 'returned an unreadable public key', { cause })
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

/** Returns true if both have the same keys. */
export function samePublicKeys(one: PublicKeys, other: PublicKeys): boolean {
  return CURVES.every((curve) => Buffer.from(one[curve] ?? []).equals(Buffer.from(other[curve] ?? [])))
}

/** Writes public keys for people. */
export function describePublicKeys(keys: PublicKeys): string {
  return Object.entries(encodePublicKeys(keys))
    .map(([curve, hex]) => `${curve} ${hex}`)
    .join(', ')
}
