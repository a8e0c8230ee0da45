import { isSecret } from './key.ts'

const HEX = /^(?:0x)?([0-9a-fA-F]{64})$/

/** A Stellar secret seed in its own spelling (SEP-23): 32 bytes and a checksum in base32. */
const STELLAR_SEED = /^S[A-Z2-7]{55}$/

/** What is accepted, for messages that ask for it. */
export const PRIVATE_KEY_FORMS = '64 hex digits, with or without 0x, or a Stellar secret seed (S…)'

/** The 32 bytes of a private key in one of its written forms; undefined when it is none. */
export async function parsePrivateKey(text: string): Promise<Uint8Array | undefined> {
  const given = text.trim()
  const secret = STELLAR_SEED.test(given) ? await fromStellarSeed(given) : fromHex(given)
  return secret !== undefined && isSecret(secret) ? secret : undefined
}

function fromHex(text: string): Uint8Array | undefined {
  const digits = HEX.exec(text)?.[1]
  return digits === undefined ? undefined : Uint8Array.from(Buffer.from(digits, 'hex'))
}

async function fromStellarSeed(text: string): Promise<Uint8Array | undefined> {
  // Loaded only where such a key is used: it takes a third of a second.
  const { StrKey } = await import('@stellar/stellar-sdk/base')
  return StrKey.isValidEd25519SecretSeed(text)
    ? Uint8Array.from(StrKey.decodeEd25519SecretSeed(text))
    : undefined
}
