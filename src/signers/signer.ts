import { AppError } from '../errors.ts'

/**
 * An ECDSA signature over secp256k1. `r` and `s` are 32 bytes each; `s` is in the lower half of the order
 * (EIP-2).
 */
export interface EcdsaSignature {
  readonly r: Uint8Array
  readonly s: Uint8Array
  /** Selects one of the two candidate public keys. */
  readonly recovery: 0 | 1
}

/**
 * The state of a key that a service outside this process holds. `unknown`: the service does not answer ·
 * `refused`: it does not sign, or it has another key; the sentence names the key and the remedy.
 */
export type SignerHealth =
  | { readonly kind: 'ok' }
  | { readonly kind: 'unknown' | 'refused'; readonly detail: string }

interface AnySigner {
  readonly id: string
  /** Checks with the key service. Absent if the key is in this process. Never rejects. */
  readonly check?: () => Promise<SignerHealth>
}

/** Signs for one secp256k1 key. A signer knows a curve, not a chain. */
export interface Secp256k1Signer extends AnySigner {
  readonly curve: 'secp256k1'
  /** Uncompressed, 65 bytes, starting with 0x04. */
  readonly publicKey: Uint8Array
  /**
   * Signs a 32-byte digest, low-s. Keys in this process sign deterministically (RFC 6979); services outside
   * give another signature each time.
   * @throws AppError `signer_unavailable` or `signer_refused` for a key outside this process
   */
  sign(digest: Uint8Array): Promise<EcdsaSignature>
  /**
   * Signs the keccak-256 hash of a message. Present if a key service only signs messages that it hashes
   * itself; then `sign` must not be called.
   */
  readonly signMessage?: (message: Uint8Array) => Promise<EcdsaSignature>
}

/** Signs for one ed25519 key (RFC 8032). */
export interface Ed25519Signer extends AnySigner {
  readonly curve: 'ed25519'
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  /**
   * Signs a message of any length; 64 bytes, deterministic.
   * @throws AppError `signer_unavailable` or `signer_refused` for a key outside this process
   */
  sign(message: Uint8Array): Promise<Uint8Array>
  /**
   * Derives a further key of the same owner by a name. The same seed and name give the same key, so the
   * service need not store it (HKDF-SHA256, RFC 5869). Absent if the seed is not in this process.
   */
  readonly derive?: (name: string) => Ed25519Signer
}

/** A key whose seed is in this process. */
export interface DerivingSigner extends Ed25519Signer {
  readonly derive: (name: string) => DerivingSigner
}

/** A signer of either curve. */
export type Signer = Secp256k1Signer | Ed25519Signer

/** The curve of a key. */
export type Curve = Signer['curve']

/**
 * Makes the failure of a key whose service does not answer: the caller can try again, and nothing has
 * happened.
 */
export function signerUnavailable(detail: string, cause?: unknown): AppError {
  return new AppError('signer_unavailable', detail, { cause })
}

/** Creates the failure of a key whose service refuses to sign: an operator must act. */
export function signerRefused(detail: string, cause?: unknown): AppError {
  return new AppError('signer_refused', detail, { cause })
}

/** Returns true for the failure of a key that is outside this process. */
export function isSignerFault(error: unknown): error is AppError {
  return error instanceof AppError && (error.code === 'signer_unavailable' || error.code === 'signer_refused')
}
