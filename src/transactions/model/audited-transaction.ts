import type { Actor } from '../../access/principal.ts'
import type { AuditAction, AuditedChange } from '../../audit/entry.ts'
import { fingerprintOf } from '../../lib/hash.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { RuleResult } from '../../spending/rule.ts'
import type { Transaction } from './transaction.ts'

/** An action of a caller on a transaction. */
export interface TransactionAction {
  readonly actor: Actor
  readonly action: AuditAction
}

/** The states of a transaction around an action; absent if there is none. */
interface States {
  readonly before?: Transaction
  readonly after?: Transaction
  /** The limits and the rules for approvals gave these results. */
  readonly results?: readonly RuleResult[] | undefined
}

/**
 * Describes an action on a transaction for the audit log. The record of the transaction has the content, so
 * an entry keeps the SHA-256 of the stored request only: it proves the content, and there is one entry for
 * each transaction.
 */
export function auditedAction(
  id: string,
  { actor, action }: TransactionAction,
  { before, after, results }: States,
): AuditedChange {
  return {
    author: actor,
    action,
    target: { type: 'transaction', id },
    before: before && contentOf(before),
    after: after && { ...contentOf(after), ...rulesOf(results) },
  }
}

/** A decision about a transaction that waits for an approval, and its author. */
interface AuditedApproval extends Pick<AuditedChange, 'author' | 'action'> {
  readonly decision: string
  readonly reason?: string | undefined
}

/**
 * Describes a decision about a transaction for the audit log, with the SHA-256 of the content that it is
 * about.
 */
export function auditedDecision(
  transaction: Transaction,
  { author, action, decision, reason }: AuditedApproval,
): AuditedChange {
  return {
    author,
    action,
    target: { type: 'transaction', id: transaction.id },
    after: omitUndefined({ ...contentOf(transaction), decision, reason }),
  }
}

function rulesOf(results: States['results'] = []): object {
  return results.length === 0 ? {} : { rules: results.map(({ detail }) => detail) }
}

function contentOf({ request }: Transaction): object {
  return { request_sha256: fingerprintOf(request) }
}
