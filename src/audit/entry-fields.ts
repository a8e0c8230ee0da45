import type { AuditEntry } from './entry.ts'

/** Gives the fields of an entry under the names of their columns, as JSON: they are hashed and stored in this form. */
export function entryFields(entry: AuditEntry) {
  return {
    chain: entry.chain,
    number: String(entry.number),
    at: entry.at.toISOString(),
    actor: entry.actor,
    address: entry.address,
    request_id: entry.requestId,
    action: entry.action,
    target_type: entry.targetType,
    target_id: entry.targetId,
    before: entry.before,
    after: entry.after,
  }
}
