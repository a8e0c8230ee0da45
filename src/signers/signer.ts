/** An ECDSA signature over secp256k1. `r` and `s` are 32 bytes each; `s` is in the lower half of the order (EIP-2). */
export interface EcdsaSignature {
  readonly r: Uint8Array
  readonly s: Uint8Array
  /** Selects one of the two candidate public keys. */
  readonly recovery: 0 | 1
}

/** Signs for one secp256k1 key. A signer knows a curve, not a chain. */
export interface Secp256k1Signer {
  readonly curve: 'secp256k1'
  readonly id: string
  /** Uncompressed, 65 bytes, starting with 0x04. */
  readonly publicKey: Uint8Array
  /** Signs a 32-byte digest. Deterministic (RFC 6979), low-s. */
  sign(digest: Uint8Array): Promise<EcdsaSignature>
}

/** Signs for one ed25519 key (RFC 8032). */
export interface Ed25519Signer {
  readonly curve: 'ed25519'
  readonly id: string
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  /** Signs a message of any length; 64 bytes, deterministic. */
  sign(message: Uint8Array): Promise<Uint8Array>
  /**
   * Derives a further key of the same owner by a name. The same seed and name give the same key, so the service need not store it
   * (HKDF-SHA256, RFC 5869).
   */
  derive(name: string): Ed25519Signer
}

/** A signer of either curve. */
export type Signer = Secp256k1Signer | Ed25519Signer
