import type { Curve } from '../signer.ts'

/** The public keys of one signer, by curve: uncompressed (65 bytes) for secp256k1, 32 bytes for ed25519. */
export type PublicKeys = Readonly<Partial<Record<Curve, Uint8Array>>>

/** A payload for a key outside this process. */
export interface SignRequest {
  readonly curve: Curve
  /** A digest of 32 bytes for secp256k1, or the message where the service hashes it; the message itself for ed25519. */
  readonly payload: Uint8Array
  /** Aborts when the time of the call is over. */
  readonly signal: AbortSignal
}

/**
 * A key that a service outside this process holds. It translates requests and errors of that service and nothing else: the room around
 * it (`create-remote-key.ts`) limits, repeats and verifies. Every failure is a `RemoteFault`; any other error counts as `unavailable`.
 */
export interface RemoteKey {
  /** Names the key in sentences for people, e.g. `AWS KMS key alias/relayer in eu-west-1`. It contains no secret. */
  readonly name: string
  /** True where the service hashes messages for secp256k1 with keccak-256 by itself, and signs no digests. */
  readonly hashesMessages?: true
  /** Set where the service signs nothing with a key of ed25519 but transactions and texts of one network type. */
  readonly ed25519For?: 'solana'
  readonly publicKeys: (signal: AbortSignal) => Promise<PublicKeys>
  /** Returns 64 bytes: r and s for secp256k1, the signature of RFC 8032 for ed25519. */
  readonly sign: (request: SignRequest) => Promise<Uint8Array>
}

/**
 * The kinds of failure. `unavailable`: no answer, or one that says nothing · `throttled`: too many calls · `refused`: a call of the same
 * kind fails until an operator acts.
 */
export type RemoteFaultKind = 'unavailable' | 'throttled' | 'refused'

/** A failure of a service that holds a key. The message completes "<name of the key> …" and contains no secret. */
export class RemoteFault extends Error {
  override readonly name = 'RemoteFault'
  readonly kind: RemoteFaultKind

  constructor(kind: RemoteFaultKind, message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.kind = kind
  }
}
