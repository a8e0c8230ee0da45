import { createDecipheriv } from 'node:crypto'

/** Opens a secret of a record; undefined if it cannot. */
export type OpenSecret = (
  sealed: string,
  record: { readonly kind: string; readonly id: string },
) => string | undefined

/** How OpenZeppelin Relayer keeps secrets: with which key, and under which names in Redis. */
export interface SecretStorage {
  /** 32 bytes. */
  readonly key: Uint8Array
  /** `REDIS_KEY_PREFIX` of that service. */
  readonly prefix: string
}

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Creates what opens the secrets of records (`src/utils/encryption.rs` and
 * `src/utils/serde/repository_encryption.rs` of OpenZeppelin Relayer). Version 2 also authenticates the name
 * of the record in Redis. Without an encryption key, that service writes the text as JSON.
 */
export function createSecretOpener({ key, prefix }: SecretStorage): OpenSecret {
  return (sealed, { kind, id }) => {
    const stored = readStored(sealed)
    if (typeof stored === 'string') return stored
    if (stored === undefined) return undefined
    const { nonce, ciphertext, version } = stored
    const bytes = Buffer.from(ciphertext, 'base64')
    const iv = Buffer.from(nonce, 'base64')
    if (iv.length !== NONCE_BYTES || bytes.length < TAG_BYTES) return undefined
    const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
    if (version === 2) decipher.setAAD(Buffer.from(`${prefix}:${kind}:${id}`))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    try {
      return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString()
    } catch {
      return undefined // Another key, another prefix, or a changed record.
    }
  }
}

interface Encrypted {
  readonly nonce: string
  readonly ciphertext: string
  readonly version: 1 | 2
}

/** Texts are encoded in base64 twice, keys once. */
function readStored(sealed: string): Encrypted | string | undefined {
  const once = Buffer.from(sealed, 'base64').toString()
  const json = /^["{]/.test(once) ? once : Buffer.from(once, 'base64').toString()
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'string' || isEncrypted(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isEncrypted(value: unknown): value is Encrypted {
  const { nonce, ciphertext, version } = Object(value) as Partial<Encrypted>
  return typeof nonce === 'string' && typeof ciphertext === 'string' && (version === 1 || version === 2)
}
