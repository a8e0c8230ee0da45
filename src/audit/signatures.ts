import type { Db, Tx } from '../database/db.ts'
import { transact } from '../database/locks/transact.ts'
import { createBatcher } from '../lib/concurrency/batcher.ts'
import { appendEntries } from './append-store.ts'
import { type AuditAction, type Author, auditLogOf } from './entry.ts'

/** A signature by a relayer that its caller has not received yet. */
export interface AuditedSignature {
  readonly relayerId: string
  readonly action: Extract<
    AuditAction,
    'signMessage' | 'signTypedData' | 'signTransaction' | 'signAuthorizationEntry'
  >
  /** The sender of the request. */
  readonly actor: Author
  /** The SHA-256, in hex, of what was signed. */
  readonly sha256: string
}

/**
 * Records a signature. When the promise resolves, the entry is committed, so that no signature leaves without
 * one.
 */
export type SignatureRecorder = (signature: AuditedSignature) => Promise<void>

/**
 * The maximum number of entries in one database transaction. More of them would make the first caller wait
 * for the others.
 */
const MAX_ENTRIES = 200

/** Creates the recorder. Signatures of one relayer at the same time share a commit. */
export function createSignatureRecorder(db: Db): SignatureRecorder {
  const record = createBatcher<AuditedSignature, true>({
    keyOf: ({ relayerId }) => relayerId,
    maxItems: MAX_ENTRIES,
    collectsTurn: true,
    run: async (signatures, relayerId) => {
      await transact(db, (tx) => appendSignatures(tx, relayerId, signatures))
      return signatures.map(() => true)
    },
  })
  return async (signature) => {
    await record(signature)
  }
}

/** Appends the entries of signatures of one relayer. Call it last, as `appendEntries`. */
export async function appendSignatures(
  tx: Tx,
  relayerId: string,
  signatures: readonly AuditedSignature[],
): Promise<void> {
  const changes = signatures.map(({ actor, action, sha256 }) => ({
    author: actor,
    action,
    target: { type: 'relayer', id: relayerId } as const,
    after: { sha256 },
  }))
  await appendEntries(tx, auditLogOf(relayerId), changes)
}
