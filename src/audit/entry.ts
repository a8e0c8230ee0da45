import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { canonicalJson } from '../lib/hash.ts'

/** A person who signed in, as the verified token of the provider named them at that time. */
export interface Person {
  readonly issuer: string
  /** The id of the person at the provider. It never changes, and no other person gets it. */
  readonly subject: string
  readonly name?: string | undefined
  readonly email?: string | undefined
}

/** The author of a change: the sender of a request (an `Actor`), or the deployment itself. */
export interface Author {
  /** The id of the API key or person, or one of the names below. */
  readonly keyId: string
  readonly person?: Person | undefined
  readonly address?: string | undefined
  readonly requestId?: string | undefined
}

/** The author of what the configuration file changes at a start. */
export const CONFIGURATION: Author = { keyId: 'configuration' }

/** The author of what an operator changes on the command line. */
export const CLI_AUTHOR: Author = { keyId: 'operator' }

/** The author of what the service itself decides when a time is over. */
export const SERVICE: Author = { keyId: 'service' }

/**
 * Everything that the audit log records: the operations that change something or sign, by their
 * `operationId`, and what the deployment does. `signIn`: a person signed in · `undoReplacement`: the nodes refused a replacement or
 * cancellation, so the record got its earlier content back · `expireApproval`: a transaction that waited for
 * an approval was not decided in time · `applyConfiguration`, `decideTransaction`, `changeStorageKey`: a
 * start and the command line.
 */
export type AuditAction =
  | 'createRelayer'
  | 'updateRelayer'
  | 'deleteRelayer'
  | 'acceptNonces'
  | 'registerAbi'
  | 'deleteAbi'
  | 'createApiKey'
  | 'updateApiKey'
  | 'rotateApiKey'
  | 'deleteApiKey'
  | 'signIn'
  | 'endSession'
  | 'endCurrentSession'
  | 'proposeChange'
  | 'decideProposal'
  | 'bypassSecondPerson'
  | 'createKey'
  | 'forgetKeyCreation'
  | 'createSigner'
  | 'deleteSigner'
  | 'updateNetwork'
  | 'resetNetwork'
  | 'createNotification'
  | 'updateNotification'
  | 'deleteNotification'
  | 'pauseNotification'
  | 'resumeNotification'
  | 'rotateSigningKey'
  | 'redeliverDelivery'
  | 'redeliverDeliveries'
  | 'sendTestEvent'
  | 'signMessage'
  | 'signTypedData'
  | 'signTransaction'
  | 'signAuthorizationEntry'
  | 'sendTransaction'
  | 'replaceTransaction'
  | 'cancelTransaction'
  | 'deletePendingTransactions'
  | 'decideApproval'
  | 'expireApproval'
  | 'undoReplacement'
  | 'createSchedule'
  | 'updateSchedule'
  | 'deleteSchedule'
  | 'decideSchedule'
  | 'updatePlugin'
  | 'callPlugin'
  | 'applyConfiguration'
  | 'decideTransaction'
  | 'changeStorageKey'

/**
 * The kinds of records that an entry can be about. `deployment`: the whole of it; the id is the name of a
 * setting.
 */
type TargetType =
  | 'relayer'
  | 'api_key'
  | 'signer'
  | 'notification'
  | 'network'
  | 'transaction'
  | 'schedule'
  | 'plugin'
  | 'session'
  | 'proposal'
  | 'deployment'

/** A change to record. `before` and `after` hold no secrets: urls are masked, and keys are left out. */
export interface AuditedChange {
  readonly author: Author
  readonly action: AuditAction
  readonly target: { readonly type: TargetType; readonly id: string }
  readonly before?: object | undefined
  readonly after?: object | undefined
}

/** The position of an entry. */
export interface EntryPosition {
  readonly chain: string
  /** From 1, without a gap. */
  readonly number: bigint
}

/** An entry of the log. Its hash covers every field. */
export interface AuditEntry extends EntryPosition {
  readonly at: Date
  readonly actor: string
  readonly person?: Person | undefined
  readonly address?: string | undefined
  readonly requestId?: string | undefined
  readonly action: string
  readonly targetType: string
  readonly targetId: string
  readonly before?: object | undefined
  readonly after?: object | undefined
}

/** An entry, and the hash that is stored with it. */
export interface StoredEntry extends AuditEntry {
  readonly hash: Uint8Array
}

/** The chain of everything but what relayers send and sign. */
export const MANAGEMENT_LOG = 'management'

/**
 * Gives the chain of what a relayer sends and signs. Each relayer has a separate chain, so that they never
 * wait for each other.
 */
export function auditLogOf(relayerId: string): string {
  return `relayer:${relayerId}`
}

/**
 * Gives the fields of an entry under the names of their columns, as JSON: they are hashed and stored in this
 * form.
 */
export function entryFields(entry: AuditEntry) {
  return {
    chain: entry.chain,
    number: String(entry.number),
    at: entry.at.toISOString(),
    actor: entry.actor,
    person: entry.person,
    address: entry.address,
    request_id: entry.requestId,
    action: entry.action,
    target_type: entry.targetType,
    target_id: entry.targetId,
    before: entry.before,
    after: entry.after,
  }
}

/** The hash before the first entry of a chain. */
export const FIRST_HASH: Uint8Array = new Uint8Array(32)

/**
 * Gives the hash of an entry: the SHA-256 of the 32 bytes of the previous hash and of the UTF-8 bytes of the
 * entry as canonical JSON (the names of the columns in alphabetical order, no spaces, no fields that are
 * null, `number` in decimal digits, `at` in RFC 3339 with milliseconds). docs/audit.md documents it, so that
 * others can verify a log.
 */
export function entryHash(previous: Uint8Array, entry: AuditEntry): Uint8Array {
  const text = canonicalJson(entryFields(entry))
  return Uint8Array.from(createHash('sha256').update(previous).update(text).digest())
}

/** The two states of a record that changed. */
interface Update<T> {
  readonly before: T
  readonly after: T
  /**
   * Converts a state to the form that the log may show, without secrets and with the same names of fields.
   */
  readonly show: (state: T) => object
  /**
   * Returns everything that can change, including secrets, by the same names, to be compared and not kept.
   * Default: as `show`.
   */
  readonly compared?: (state: T) => object
}

/**
 * Gives the fields in which two states differ, as the log shows them. A field of which only the masked part
 * changed is included, with the same text on both sides.
 */
export function changedFields<T>({ before, after, show, compared = show }: Update<T>): {
  readonly before: object
  readonly after: object
} {
  const [old, now] = [fieldsOf(compared(before)), fieldsOf(compared(after))]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    (name) => !isDeepStrictEqual(old[name], now[name]),
  )
  return { before: pick(show(before), names), after: pick(show(after), names) }
}

function pick(state: object, names: readonly string[]): object {
  const fields = fieldsOf(state)
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  )
}

function fieldsOf(state: object): Readonly<Record<string, unknown>> {
  return { ...state }
}
