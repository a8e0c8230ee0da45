import type { SpendingRules } from '../spending/rules.ts'
import type { Scope } from './scope.ts'
import type { Visibility } from './visibility.ts'

/** The rights of a key. */
export interface Rights {
  readonly scopes: readonly Scope[]
  readonly visibility: Visibility
  /** The rules for what it may spend; absent when it has none. */
  readonly rules?: SpendingRules | undefined
  /** Absent when it has no end. */
  readonly expiresAt?: Date | undefined
}

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
