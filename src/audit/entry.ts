/** The author of a change: the sender of a request (an `Actor`), or the deployment itself. */
export interface Author {
  /** The id of the API key, or one of the names below. */
  readonly keyId: string
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
 * Everything that the audit log records: the operations that change something or sign, by their `operationId`, and what the deployment does.
 * `undoReplacement`: the nodes refused a replacement or cancellation, so the record got its earlier content back ·
 * `expireApproval`: nobody decided in time about a transaction that waited for an approval ·
 * `applyConfiguration`, `decideTransaction`, `changeStorageKey`: a start and the command line.
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
  | 'applyConfiguration'
  | 'decideTransaction'
  | 'changeStorageKey'

/** The kinds of records that an entry can be about. `deployment`: the whole of it; the id is the name of a setting. */
export type TargetType =
  | 'relayer'
  | 'api_key'
  | 'signer'
  | 'notification'
  | 'network'
  | 'transaction'
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
export const MANAGEMENT_CHAIN = 'management'

/** Gives the chain of what a relayer sends and signs. Relayers have chains of their own, so that they never wait for each other. */
export function chainOf(relayerId: string): string {
  return `relayer:${relayerId}`
}
