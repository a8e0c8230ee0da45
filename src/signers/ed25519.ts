import { createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { getBase58Decoder, getBase58Encoder } from '@solana/kit'
import { StrKey } from '@stellar/stellar-sdk/base'
import type { DerivingSigner } from './signer.ts'

const SEED_BYTES = 32

/** The bytes that PKCS #8 puts before the 32 bytes of an Ed25519 private key (RFC 8410 §7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The salt separates derived keys from every other use of the seed. */
const DERIVATION_SALT = 'relayer/ed25519/1'

const signAsync = promisify(sign)

/**
 * Creates a signer that keeps its key in this process, in a closure that no inspection of the object reaches.
 * `seed` is the 32-byte private key of RFC 8032; it is copied.
 */
export function createEd25519Signer(id: string, seed: Uint8Array): DerivingSigner {
  if (seed.length !== SEED_BYTES) throw new Error(`The bytes of signer "${id}" are not an ed25519 seed.`)
  const own = Uint8Array.from(seed)
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, own]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return Object.freeze({
    curve: 'ed25519',
    id,
    publicKey: new Uint8Array(Buffer.from(x, 'base64url')),
    sign: async (message: Uint8Array) => new Uint8Array(await signAsync(null, message, key)),
    derive: (name: string) =>
      createEd25519Signer(
        `${id}/${name}`,
        new Uint8Array(hkdfSync('sha256', own, DERIVATION_SALT, name, SEED_BYTES)),
      ),
  } satisfies DerivingSigner)
}

const PAIR_BYTES = 64

/** Encodes an ed25519 public key of 32 bytes as an address: the key itself in base58. */
export function solanaAddress(publicKey: Uint8Array): string {
  return getBase58Decoder().decode(publicKey)
}

/**
 * Decodes the seed of a key pair. Solana's tools write the seed and then the public key: in base58 (wallets),
 * or as a JSON list of 64 numbers (`solana-keygen`). Returns undefined for any other text, and for halves
 * that do not belong together.
 */
export function seedOfSolanaKey(text: string): Uint8Array | undefined {
  const pair = text.startsWith('[') ? fromList(text) : Uint8Array.from(getBase58Encoder().encode(text))
  if (pair?.length !== PAIR_BYTES) return undefined
  const seed = pair.slice(0, SEED_BYTES)
  const { publicKey } = createEd25519Signer('parsed', seed)
  return Buffer.from(publicKey).equals(pair.subarray(SEED_BYTES)) ? seed : undefined
}

function fromList(text: string): Uint8Array | undefined {
  const numbers = parse(text)
  const isByte = (value: unknown) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255
  return Array.isArray(numbers) && numbers.every(isByte) ? Uint8Array.from(numbers as number[]) : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // The parser's own message would quote the key.
  }
}

/** Encodes an ed25519 public key of 32 bytes as an account id, `G…` (SEP-23). */
export function stellarAddress(publicKey: Uint8Array): string {
  return StrKey.encodeEd25519PublicKey(Buffer.from(publicKey))
}

/** Decodes a secret seed, `S…` (SEP-23). Returns undefined for any other text. */
export function seedOfStellarKey(text: string): Uint8Array | undefined {
  if (!StrKey.isValidEd25519SecretSeed(text)) return undefined
  return Uint8Array.from(StrKey.decodeEd25519SecretSeed(text))
}
