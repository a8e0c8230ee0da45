import { type AuditedChange, CONFIGURATION } from '../../audit/entry.ts'
import type { ConfigChange, FieldChange } from './changes.ts'

/**
 * Describes a change by the configuration file for the audit log. Its fields are texts as the log of the service has them, with masked urls. A
 * record that appears has no `before`, and one that disappears no `after`; the file has its fields.
 */
export function auditedChange({ kind, what, id, fields }: ConfigChange): AuditedChange {
  return {
    author: CONFIGURATION,
    action: 'applyConfiguration',
    target: { type: what, id },
    ...((kind === 'updated' || kind === 'removed') && { before: valuesOf(fields, 'from') }),
    ...(kind !== 'removed' && { after: valuesOf(fields, 'to') }),
  }
}

function valuesOf(fields: readonly FieldChange[], side: 'from' | 'to'): object {
  return Object.fromEntries(fields.map((change) => [change.field, change[side]]))
}
