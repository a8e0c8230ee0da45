import { pbkdf2 as pbkdf2Callback, scrypt as scryptCallback } from 'node:crypto'
import { promisify } from 'node:util'
import { scryptAsync } from '@noble/hashes/scrypt'

const pbkdf2 = promisify(pbkdf2Callback)

/** The derived key has 16 bytes for the cipher and 16 for the MAC. */
const DERIVED_BYTES = 32

/**
 * The most work a file may ask for: four times geth's standard (n 2^18, r 8, p 1), so at most 1 GiB and a few seconds.
 * A hostile file could otherwise stop the process.
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
export type Kdf = ScryptKdf | { readonly name: 'pbkdf2'; readonly rounds: number; readonly salt: Uint8Array }

interface ScryptKdf {
  readonly name: 'scrypt'
  readonly n: number
  readonly r: number
  readonly p: number
  readonly salt: Uint8Array
}

/** @throws KeystoreError for an unknown function, and for more work than the limits allow */
export function readKdf(name: unknown, params: Record<string, unknown>, salt: Uint8Array): Kdf {
  if (params.dklen !== DERIVED_BYTES) throw new KeystoreError(`its dklen is not ${DERIVED_BYTES}`)
  if (name === 'scrypt') return readScrypt(params, salt)
  if (name === 'pbkdf2') return readPbkdf2(params, salt)
  throw new KeystoreError('its kdf is neither scrypt nor pbkdf2')
}

/** Derives 32 bytes from a passphrase (UTF-8). */
export async function deriveKey(kdf: Kdf, passphrase: string): Promise<Uint8Array> {
  if (kdf.name === 'pbkdf2') return pbkdf2(passphrase, kdf.salt, kdf.rounds, DERIVED_BYTES, 'sha256')
  return scrypt(kdf, passphrase)
}

async function scrypt({ n: N, r, p, salt }: ScryptKdf, passphrase: string): Promise<Uint8Array> {
  // OpenSSL refuses these parameters (r 1 with a large n), but old key files and the definition's own example have them.
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
  if (n * r * p > MAX_SCRYPT_WORK) throw new KeystoreError('its scrypt parameters ask for too much work')
  return { name: 'scrypt', n, r, p, salt }
}

function readPbkdf2(params: Record<string, unknown>, salt: Uint8Array): Kdf {
  if (params.prf !== 'hmac-sha256') throw new KeystoreError('its prf is not hmac-sha256')
  const rounds = positive(params.c, 'c')
  if (rounds > MAX_PBKDF2_ROUNDS) throw new KeystoreError('its pbkdf2 parameters ask for too much work')
  return { name: 'pbkdf2', rounds, salt }
}

function positive(value: unknown, name: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    throw new KeystoreError(`its ${name} is not a positive integer`)
  }
  return value as number
}
