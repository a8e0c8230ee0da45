import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { inspect } from 'node:util'

/**
 * A text that must not be printed. Only `reveal` returns it; logs, JSON and error messages show `[secret]`.
 */
export interface Secret {
  reveal(): string
}

const SHOWN = '[secret]'

/** Hides `text` in a closure, where no inspection of the object finds it. */
export function createSecret(text: string): Secret {
  const shown = () => SHOWN
  return Object.freeze({ reveal: () => text, toString: shown, toJSON: shown, [inspect.custom]: shown })
}

/** The first byte of sealed data, so that a later format can be distinguished. */
const VERSION = 1

const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/** Encrypts secrets for storage. */
export interface Sealer {
  /** Encrypts a secret for its owner. Sealed bytes that are copied to another owner do not open. */
  seal(secret: string, owner: string): Uint8Array
  /** @throws UnsealError if the key is another one, or the bytes were not sealed for this owner */
  open(sealed: Uint8Array, owner: string): string
}

/** A stored secret cannot be decrypted. The message does not contain the secret (I11). */
export class UnsealError extends Error {
  override readonly name = 'UnsealError'

  constructor(owner: string) {
    super(`The stored secret of ${owner} cannot be decrypted: has STORAGE_ENCRYPTION_KEY changed?`)
  }
}

/** Reads the 32 bytes of a key from base64; undefined for any other text. */
export function readSealingKey(base64: string): Uint8Array | undefined {
  const bytes = Buffer.from(base64, 'base64')
  return bytes.length === KEY_BYTES && bytes.toString('base64') === base64 ? bytes : undefined
}

/** Creates the sealer of a deployment; undefined if it has no key. */
export function sealerOf(key: Secret | undefined): Sealer | undefined {
  const bytes = key && readSealingKey(key.reveal())
  return bytes && createSealer(bytes)
}

/**
 * AES-256-GCM with a random nonce; the owner is authenticated with it. Layout: version, nonce, tag,
 * ciphertext.
 */
export function createSealer(key: Uint8Array): Sealer {
  if (key.length !== KEY_BYTES) throw new Error(`a sealing key has ${KEY_BYTES} bytes`)
  return {
    seal(secret, owner) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(owner))
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([Uint8Array.of(VERSION), iv, cipher.getAuthTag(), text])
    },
    open(sealed, owner) {
      const bytes = Buffer.from(sealed)
      const body = 1 + IV_BYTES + TAG_BYTES
      if (bytes[0] !== VERSION || bytes.length < body) throw new UnsealError(owner)
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 1 + IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(owner))
        .setAuthTag(bytes.subarray(1 + IV_BYTES, body))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(body)), decipher.final()]).toString('utf8')
      } catch {
        throw new UnsealError(owner)
      }
    },
  }
}
