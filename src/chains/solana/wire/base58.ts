import { getBase58Decoder, getBase58Encoder } from '@solana/kit'

const toBytes = getBase58Encoder()
const toText = getBase58Decoder()

const ALPHABET = /^[1-9A-HJ-NP-Za-km-z]+$/

/** Bytes of an ed25519 public key, of a program's address and of a blockhash. */
export const KEY_BYTES = 32

/** The text of bytes in base58. */
export function encodeBase58(bytes: Uint8Array): string {
  return toText.decode(bytes)
}

/** The bytes of a text in base58; undefined for what is none. */
function decodeBase58(text: string): Uint8Array | undefined {
  return ALPHABET.test(text) ? Uint8Array.from(toBytes.encode(text)) : undefined
}

/** Whether the text is 32 bytes in base58. */
export function isAddress(text: string): boolean {
  return text.length >= 32 && text.length <= 44 && decodeBase58(text)?.length === KEY_BYTES
}

/**
 * The 32 bytes of an address that was checked or made by us.
 * @throws Error for anything else
 */
export function addressBytes(address: string): Uint8Array {
  const bytes = decodeBase58(address)
  if (bytes?.length !== KEY_BYTES) throw new Error(`${address} is no address`)
  return bytes
}
