import { getBase58Decoder, getBase58Encoder } from '@solana/kit'

const toBytes = getBase58Encoder()
const toText = getBase58Decoder()

const ALPHABET = /^[1-9A-HJ-NP-Za-km-z]+$/

/** The length of an ed25519 public key, of a program's address and of a blockhash, in bytes. */
export const KEY_BYTES = 32

/** Encodes bytes in base58. */
export function encodeBase58(bytes: Uint8Array): string {
  return toText.decode(bytes)
}

/** Decodes base58; undefined for other text. */
function decodeBase58(text: string): Uint8Array | undefined {
  return ALPHABET.test(text) ? Uint8Array.from(toBytes.encode(text)) : undefined
}

/** Returns true when the text is 32 bytes in base58. */
export function isAddress(text: string): boolean {
  return text.length >= 32 && text.length <= 44 && decodeBase58(text)?.length === KEY_BYTES
}

/**
 * Returns the 32 bytes of an address that was checked before, or created by the service.
 * @throws Error for anything else
 */
export function addressBytes(address: string): Uint8Array {
  const bytes = decodeBase58(address)
  if (bytes?.length !== KEY_BYTES) throw new Error(`${address} is no address`)
  return bytes
}
