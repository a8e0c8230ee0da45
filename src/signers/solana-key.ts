import { getBase58Decoder, getBase58Encoder } from '@solana/kit'
import { createEd25519Signer } from './ed25519.ts'

const SEED_BYTES = 32
const PAIR_BYTES = 64

/** Encodes an ed25519 public key of 32 bytes as an address: the key itself in base58. */
export function solanaAddress(publicKey: Uint8Array): string {
  return getBase58Decoder().decode(publicKey)
}

/**
 * Decodes the seed of a key pair. Solana's tools write the seed and then the public key: in base58 (wallets), or as a JSON list of 64
 * numbers (`solana-keygen`). Returns undefined for any other text, and for halves that do not belong together.
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
