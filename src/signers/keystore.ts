import {
  createCipheriv,
  createDecipheriv,
  pbkdf2 as pbkdf2Callback,
  randomBytes,
  scrypt as scryptCallback,
  timingSafeEqual,
} from 'node:crypto'
import { promisify } from 'node:util'
import { scryptAsync } from '@noble/hashes/scrypt'
import { keccak256 } from '../lib/hash.ts'

const CIPHER = 'aes-128-ctr'
const HEX = /^(0x)?([0-9a-fA-F]{2})*$/

/**
 * The cost of encryption: about 128 MiB and half a second. Decryption uses the file's own cost, within
 * bounds.
 */
const DEFAULT_SCRYPT_N = 2 ** 17

/**
 * Decrypts a key file of the Web3 Secret Storage definition, version 3, as geth, ethers and foundry write it.
 * The passphrase is tried as typed, then in the normal form NFKC, as ethers does: letters with accents and
 * ligatures can be encoded in several ways. @returns the private key, of any length @throws KeystoreError for
 * a wrong passphrase or a file of another shape; never with content of the file
 */
export async function decryptKeystore(text: string, passphrase: string): Promise<Uint8Array> {
  const { kdf, iv, ciphertext, mac } = readKeystore(text)
  for (const spelling of new Set([passphrase, passphrase.normalize('NFKC')])) {
    const derived = await deriveKey(kdf, spelling)
    if (!timingSafeEqual(macOf(derived, ciphertext), mac)) continue
    const decipher = createDecipheriv(CIPHER, derived.subarray(0, 16), iv)
    return new Uint8Array(Buffer.concat([decipher.update(ciphertext), decipher.final()]))
  }
  throw new KeystoreError('the passphrase is wrong')
}

/** The field of our own in a key file, as other tools have theirs (`x-ethers`). Other tools ignore it. */
const MARK = 'x-relayer'

/** The mark of a key file with a separate key for each network type. */
const SEPARATE = 'network_type'

/**
 * Reads the mark of a key file. Returns false without a mark: a file of another tool, or of an imported key,
 * whose accounts use the secret as it is.
 * @throws KeystoreError for a mark that this release does not know: every guess would be the key of another
 * account
 */
export function isSeparate(text: string): boolean {
  const mark = record(parseJson(text), 'the file')[MARK]
  if (mark === undefined) return false
  if (record(mark, MARK).derivation === SEPARATE) return true
  throw new KeystoreError(`the derivation in its ${MARK} is not known`)
}

interface EncryptOptions {
  readonly passphrase: string
  /** The address of the account, in any hex form, for other tools. */
  readonly address: string
  /** Marks the file, so that each network type gets a separate key; default false. */
  readonly separate?: boolean
  /** scrypt's cost, a power of two; default 131072. */
  readonly n?: number
}

/** Writes a key file that other tools can read, with a fresh salt, iv and id. */
export async function encryptKeystore(privateKey: Uint8Array, options: EncryptOptions): Promise<string> {
  const { passphrase, address, separate = false, n = DEFAULT_SCRYPT_N } = options
  const salt = randomBytes(32)
  const iv = randomBytes(16)
  const derived = await deriveKey({ name: 'scrypt', n, r: 8, p: 1, salt }, passphrase)
  const cipher = createCipheriv(CIPHER, derived.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([cipher.update(privateKey), cipher.final()])
  const keystore = {
    version: 3,
    id: crypto.randomUUID(),
    address: address.replace(/^0x/i, '').toLowerCase(),
    ...(separate && { [MARK]: { derivation: SEPARATE } }),
    crypto: {
      cipher: CIPHER,
      cipherparams: { iv: iv.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'scrypt',
      kdfparams: { dklen: 32, n, r: 8, p: 1, salt: salt.toString('hex') },
      mac: Buffer.from(macOf(derived, ciphertext)).toString('hex'),
    },
  }
  return `${JSON.stringify(keystore, null, 2)}\n`
}

interface Keystore {
  readonly kdf: Kdf
  readonly iv: Uint8Array
  readonly ciphertext: Uint8Array
  readonly mac: Uint8Array
}

function readKeystore(text: string): Keystore {
  const file = record(parseJson(text), 'the file')
  if (file.version !== 3) throw new KeystoreError('it is not a version 3 key file')
  // Early geth wrote the name with a capital.
  const section = record(file.crypto ?? file.Crypto, 'crypto')
  if (section.cipher !== CIPHER) throw new KeystoreError(`its cipher is not ${CIPHER}`)
  const iv = bytes(record(section.cipherparams, 'cipherparams').iv, 'iv')
  const mac = bytes(section.mac, 'mac')
  if (iv.length !== 16 || mac.length !== 32) throw new KeystoreError('its iv or mac has a wrong length')
  const params = record(section.kdfparams, 'kdfparams')
  const kdf = readKdf(section.kdf, params, bytes(params.salt, 'salt'))
  return { kdf, iv, mac, ciphertext: bytes(section.ciphertext, 'ciphertext') }
}

function macOf(derived: Uint8Array, ciphertext: Uint8Array): Uint8Array {
  return keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext]))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text.
    throw new KeystoreError('it is not JSON')
  }
}

function record(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new KeystoreError(`${name} is not an object`)
  return value as Record<string, unknown>
}

function bytes(value: unknown, name: string): Uint8Array {
  if (typeof value !== 'string' || !HEX.test(value)) throw new KeystoreError(`${name} is not hex`)
  return new Uint8Array(Buffer.from(value.replace(/^0x/, ''), 'hex'))
}

const pbkdf2 = promisify(pbkdf2Callback)

/** The derived key has 16 bytes for the cipher and 16 for the MAC. */
const DERIVED_BYTES = 32

/**
 * The most work that a file may require: four times geth's standard (n 2^18, r 8, p 1), so at most 1 GiB and
 * a few seconds. A hostile file could otherwise stop the process.
 */
const MAX_SCRYPT_WORK = 2 ** 23

/** The memory of that work, with a reserve for the parallel blocks. Node's default limit is 32 MiB. */
const MAX_MEMORY = 128 * MAX_SCRYPT_WORK + 64 * 1024 * 1024

const MAX_PBKDF2_ROUNDS = 10_000_000

/** A key file that cannot be used. The message completes "the key file cannot be read: …". */
export class KeystoreError extends Error {
  override readonly name = 'KeystoreError'
}

/** The function that turns a passphrase into a key. */
type Kdf = ScryptKdf | { readonly name: 'pbkdf2'; readonly rounds: number; readonly salt: Uint8Array }

interface ScryptKdf {
  readonly name: 'scrypt'
  readonly n: number
  readonly r: number
  readonly p: number
  readonly salt: Uint8Array
}

/** @throws KeystoreError for an unknown function, and for more work than the limits allow */
function readKdf(name: unknown, params: Record<string, unknown>, salt: Uint8Array): Kdf {
  if (params.dklen !== DERIVED_BYTES) throw new KeystoreError(`its dklen is not ${DERIVED_BYTES}`)
  if (name === 'scrypt') return readScrypt(params, salt)
  if (name === 'pbkdf2') return readPbkdf2(params, salt)
  throw new KeystoreError('its kdf is neither scrypt nor pbkdf2')
}

/** Derives 32 bytes from a passphrase (UTF-8). */
async function deriveKey(kdf: Kdf, passphrase: string): Promise<Uint8Array> {
  if (kdf.name === 'pbkdf2') return pbkdf2(passphrase, kdf.salt, kdf.rounds, DERIVED_BYTES, 'sha256')
  return scrypt(kdf, passphrase)
}

async function scrypt({ n: N, r, p, salt }: ScryptKdf, passphrase: string): Promise<Uint8Array> {
  // OpenSSL refuses these parameters (r 1 with a large n), but old key files and the definition's own example
  // have them.
  if (N >= 2 ** (16 * r))
    return scryptAsync(passphrase, salt, { N, r, p, dkLen: DERIVED_BYTES, maxmem: MAX_MEMORY })
  return new Promise((resolve, reject) => {
    scryptCallback(passphrase, salt, DERIVED_BYTES, { N, r, p, maxmem: MAX_MEMORY }, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}

function readScrypt(params: Record<string, unknown>, salt: Uint8Array): Kdf {
  const n = positive(params.n, 'n')
  const r = positive(params.r, 'r')
  const p = positive(params.p, 'p')
  if (n < 2 || !Number.isInteger(Math.log2(n))) throw new KeystoreError('its scrypt n is not a power of two')
  if (n * r * p > MAX_SCRYPT_WORK) throw new KeystoreError('its scrypt parameters require too much work')
  return { name: 'scrypt', n, r, p, salt }
}

function readPbkdf2(params: Record<string, unknown>, salt: Uint8Array): Kdf {
  if (params.prf !== 'hmac-sha256') throw new KeystoreError('its prf is not hmac-sha256')
  const rounds = positive(params.c, 'c')
  if (rounds > MAX_PBKDF2_ROUNDS) throw new KeystoreError('its pbkdf2 parameters require too much work')
  return { name: 'pbkdf2', rounds, salt }
}

function positive(value: unknown, name: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    throw new KeystoreError(`its ${name} is not a positive integer`)
  }
  return value as number
}
