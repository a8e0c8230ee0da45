import { hkdfSync, randomBytes } from 'node:crypto'
import { omitUndefined } from '../lib/object.ts'
import { createEd25519Signer } from './ed25519.ts'
import { createSecp256k1Signer, evmAddress, isPrivateKey } from './secp256k1.ts'
import type { DerivingSigner, Ed25519Signer, Secp256k1Signer } from './signer.ts'

/**
 * The signers of one key, by the network type that uses them. A network type that the curve of the key does
 * not fit is absent.
 */
interface KeySigners {
  readonly evm?: Secp256k1Signer
  readonly stellar?: Ed25519Signer
  readonly solana?: Ed25519Signer
}

/** The key of one signer, in the form that each network type uses. */
export interface Key extends KeySigners {
  readonly id: string
  /** True if every network type uses the secret itself, false if each has a separate key. */
  readonly isShared: boolean
  /** Derives the key at this distance from this one. Only keys with many accounts have it. */
  readonly at?: (distance: number) => Promise<Key>
}

/** A key whose secret is in this process fits every network type. */
export interface LocalKey extends Key {
  readonly evm: Secp256k1Signer
  readonly stellar: DerivingSigner
  readonly solana: DerivingSigner
}

/** Creates a key of these signers. A signer that is undefined is absent in it. */
export function keyOf(
  key: { readonly [K in keyof Key]: Key[K] | undefined } & Pick<Key, 'id' | 'isShared'>,
): Key {
  return Object.freeze(omitUndefined(key))
}

const SEED_BYTES = 32

/**
 * The salt separates these keys from channel accounts, and from every other use of the secret. A change moves
 * every account.
 */
const DERIVATION_SALT = 'relayer/key/1'

/**
 * A key whose secret is in this process, in private fields that no inspection of the object reaches. Its
 * ed25519 signers are created when they are used: one takes 4 kB, and most keys have relayers on networks of
 * one type.
 */
class SecretKey implements LocalKey {
  readonly id: string
  readonly isShared: boolean
  readonly evm: Secp256k1Signer
  readonly #secret: Uint8Array
  #stellar: DerivingSigner | undefined
  #solana: DerivingSigner | undefined

  constructor(id: string, secret: Uint8Array, { isShared }: Pick<Key, 'isShared'>) {
    this.id = id
    this.isShared = isShared
    this.evm = createSecp256k1Signer(id, secret)
    this.#secret = new Uint8Array(secret)
    Object.freeze(this)
  }

  get stellar(): DerivingSigner {
    this.#stellar ??= createEd25519Signer(this.id, this.#secretOf('stellar'))
    return this.#stellar
  }

  get solana(): DerivingSigner {
    if (this.isShared) return this.stellar
    this.#solana ??= createEd25519Signer(this.id, this.#secretOf('solana'))
    return this.#solana
  }

  #secretOf(networkType: keyof KeySigners): Uint8Array {
    return this.isShared ? this.#secret : separateSecret(this.#secret, networkType)
  }
}

/**
 * Creates a key that every network type uses as it is, as the addresses of keys from elsewhere demand. The
 * secret has 32 bytes, which are a private key of secp256k1 and the seed of an ed25519 key; it satisfies
 * `isSecret` and is copied.
 */
export function createKey(id: string, secret: Uint8Array): LocalKey {
  return new SecretKey(id, secret, { isShared: true })
}

/**
 * Creates a key that is another one for each network type, so that no signature for one is one for another
 * (docs/signatures.md). EVM has the secret itself, because other tools read the same account from the key
 * file; the others derive theirs (HKDF-SHA256, RFC 5869).
 */
export function createSeparateKey(id: string, secret: Uint8Array): LocalKey {
  return new SecretKey(id, secret, { isShared: false })
}

/**
 * Returns a copy of the secret that the accounts of one network type have in a key that is another one for
 * each.
 */
export function separateSecret(secret: Uint8Array, networkType: keyof KeySigners): Uint8Array {
  return networkType === 'evm' ? Uint8Array.from(secret) : deriveSeed(secret, `ed25519/${networkType}`)
}

/** Accepts 32 bytes that both curves accept. One seed of ed25519 in 2^128 is not a key of secp256k1. */
export const isSecret = isPrivateKey

/** Creates a secret from the random numbers of the system. */
export function generateSecret(): Uint8Array {
  for (;;) {
    const secret = new Uint8Array(randomBytes(SEED_BYTES))
    if (isSecret(secret)) return secret
  }
}

/** The address of a key on each network type, as its tools write it. */
export async function addressesOf(key: LocalKey): Promise<Readonly<Record<keyof KeySigners, string>>> {
  const { solanaAddress, stellarAddress } = await import('./ed25519.ts')
  return {
    evm: evmAddress(key.evm.publicKey),
    solana: solanaAddress(key.solana.publicKey),
    stellar: stellarAddress(key.stellar.publicKey),
  }
}

function deriveSeed(secret: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, DERIVATION_SALT, purpose, SEED_BYTES))
}

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
  // The libraries of Stellar and Solana take a third and a tenth of a second to load, so only their keys load
  // them.
  if (STELLAR_SEED.test(text)) return (await import('./ed25519.ts')).seedOfStellarKey(text)
  if (SOLANA_PAIR.test(text)) return (await import('./ed25519.ts')).seedOfSolanaKey(text)
  return fromHex(text)
}

function fromHex(text: string): Uint8Array | undefined {
  const digits = HEX.exec(text)?.[1]
  return digits === undefined ? undefined : Uint8Array.from(Buffer.from(digits, 'hex'))
}
