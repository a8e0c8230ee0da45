import { createHmac } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeed, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english'
import { createEd25519Signer } from '../ed25519.ts'
import type { LocalKey } from '../key.ts'
import { createSecp256k1Signer } from '../secp256k1.ts'

/** Accepts words of the English list whose checksum is right. */
export function isMnemonic(phrase: string): boolean {
  return validateMnemonic(normalized(phrase), wordlist)
}

interface MnemonicAccount {
  readonly phrase: string
  /** The "25th word"; empty for none. */
  readonly passphrase: string
  readonly index: number
}

/**
 * Creates the key of one account, as the wallets of each network derive it: m/44'/60'/0'/0/i for EVM
 * (BIP-44), m/44'/148'/i' for Stellar (SEP-5), and m/44'/501'/i'/0' for Solana. `phrase` satisfies
 * `isMnemonic`.
 */
export async function createMnemonicKey(id: string, account: MnemonicAccount): Promise<LocalKey> {
  const { phrase, passphrase, index } = account
  const seed = await mnemonicToSeed(normalized(phrase), passphrase)
  try {
    return Object.freeze({
      id,
      isShared: false,
      at: (distance: number) => createMnemonicKey(id, { ...account, index: index + distance }),
      evm: createSecp256k1Signer(id, deriveSecp256k1(seed, index)),
      stellar: createEd25519Signer(id, deriveEd25519Seed(seed, [44, 148, index])),
      solana: createEd25519Signer(id, deriveEd25519Seed(seed, [44, 501, index, 0])),
    })
  } finally {
    seed.fill(0)
  }
}

function deriveSecp256k1(seed: Uint8Array, index: number): Uint8Array {
  const { privateKey } = HDKey.fromMasterSeed(seed).derive(`m/44'/60'/0'/0/${index}`)
  if (!privateKey) throw new Error('a derived key has no private part')
  return privateKey
}

/** People copy phrases with line breaks and double spaces. */
function normalized(phrase: string): string {
  return phrase.trim().toLowerCase().split(/\s+/).join(' ')
}

/** The key of the first HMAC (SLIP-10). */
const ED25519_CURVE = 'ed25519 seed'

/** Marks a hardened index; ed25519 has no others. */
const HARDENED = 0x80000000

const KEY_BYTES = 32

/**
 * Derives the ed25519 private key of a path of hardened indexes from a seed (SLIP-10), e.g. `[44, 148, 0]`
 * for m/44'/148'/0'.
 */
export function deriveEd25519Seed(seed: Uint8Array, path: readonly number[]): Uint8Array {
  const master = hmac(Buffer.from(ED25519_CURVE), seed)
  const derived = path.reduce((node, index) => {
    const data = Buffer.alloc(1 + KEY_BYTES + 4)
    node.copy(data, 1, 0, KEY_BYTES)
    data.writeUInt32BE(HARDENED + index, 1 + KEY_BYTES)
    return hmac(node.subarray(KEY_BYTES), data)
  }, master)
  return Uint8Array.from(derived.subarray(0, KEY_BYTES))
}

function hmac(key: Uint8Array, data: Uint8Array): Buffer {
  return createHmac('sha512', key).update(data).digest()
}
