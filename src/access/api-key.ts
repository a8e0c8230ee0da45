import { hash, randomBytes } from 'node:crypto'
import type { Rights } from './principal.ts'

/** A secret of a key, as far as people recognise it. */
export interface SecretRecord {
  readonly prefix: string
  readonly createdAt: Date
  /** Absent for the newest secret. */
  readonly expiresAt?: Date | undefined
}

/** An API key as a record. */
export interface ApiKey extends Rights {
  readonly id: string
  readonly name: string
  readonly disabled: boolean
  readonly createdAt: Date
  /** The id of the key that created it. */
  readonly createdBy: string
  readonly lastUsedAt?: Date | undefined
  /** The accepted secrets, newest first. */
  readonly secrets: readonly SecretRecord[]
}

/** Returns why a key is no longer accepted; undefined while it is. Pure. */
export function endOfKey(
  { disabled, expiresAt }: Pick<ApiKey, 'disabled' | 'expiresAt'>,
  now: number,
): 'disabled' | 'expired' | undefined {
  if (disabled) return 'disabled'
  return expiresAt !== undefined && expiresAt.getTime() <= now ? 'expired' : undefined
}

/** The beginning of the ids of the keys of plugins. Callers cannot create keys whose ids begin like this. */
export const KEYS_OF_PLUGINS = 'plugin.'

/** The entropy of a secret in bytes: too much to guess. */
const SECRET_BYTES = 32

/** Lets secret scanners and people recognise a leaked key. Existing keys have it, so it cannot change. */
const MARK = 'rlk_'

/** The characters of a secret that are shown: too few to help an attacker guess the rest. */
const PREFIX_LENGTH = MARK.length + 8

/** Generates a secret, which needs no encoding in a header. */
export function drawSecret(): string {
  return MARK + randomBytes(SECRET_BYTES).toString('base64url')
}

/** Returns the hash that is stored. A plain hash is enough, because a random secret cannot be guessed. */
export function hashSecret(secret: string): Buffer {
  return Buffer.from(hashSecretHex(secret), 'hex')
}

/**
 * Returns the hash in hex digits, by which records are found. Node makes these in a third of the time that it
 * needs for a Buffer.
 */
export function hashSecretHex(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** Returns the beginning of a secret, by which people recognise it. */
export function prefixOf(secret: string): string {
  return secret.slice(0, PREFIX_LENGTH)
}
