import { isSecret } from './key.ts'

const HEX = /^(?:0x)?([0-9a-fA-F]{64})$/

/** A Stellar secret seed in its own spelling (SEP-23): 32 bytes and a checksum in base32. */
const STELLAR_SEED = /^S[A-Z2-7]{55}$/

/** A Solana key pair: 64 bytes in base58, or as a JSON list of numbers. */
const SOLANA_PAIR = /^([1-9A-HJ-NP-Za-km-z]{80,90}|\[[\d\s,]{127,1000}\])$/

/** The accepted forms, for messages. */
export const PRIVATE_KEY_FORMS =
  '64 hex digits, with or without 0x, a Stellar secret seed (S…), or a Solana key pair (64 bytes in base58 or as a JSON list)'

/** Parses a private key in one of its written forms into 32 bytes. Returns undefined for any other text. */
export async function parsePrivateKey(text: string): Promise<Uint8Array | undefined> {
  const secret = await read(text.trim())
  return secret !== undefined && isSecret(secret) ? secret : undefined
}

async function read(text: string): Promise<Uint8Array | undefined> {
  // The libraries of Stellar and Solana take a third and a tenth of a second to load, so only their keys load them.
  if (STELLAR_SEED.test(text)) return (await import('./stellar-key.ts')).seedOfStellarKey(text)
  if (SOLANA_PAIR.test(text)) return (await import('./solana-key.ts')).seedOfSolanaKey(text)
  return fromHex(text)
}

function fromHex(text: string): Uint8Array | undefined {
  const digits = HEX.exec(text)?.[1]
  return digits === undefined ? undefined : Uint8Array.from(Buffer.from(digits, 'hex'))
}
