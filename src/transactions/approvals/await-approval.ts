import type { Actor } from '../../access/actor.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { RuleResult } from '../../spending/evaluate-content.ts'
import { DEFAULT_EXPIRY_SECONDS } from '../../spending/rules.ts'
import { spendersOf } from '../budgets/evaluate-request.ts'
import type { Transaction } from '../model/transaction.ts'
import type { NewApproval } from './approval.ts'

/** A transaction that waits for an approval. */
export interface AwaitingTransaction {
  readonly transaction: Transaction
  readonly approval: NewApproval
}

interface Waiting {
  readonly relayer: Relayer
  readonly actor: Actor
  readonly chain: Pick<Chain, 'endsAt'>
  readonly results: readonly RuleResult[]
}

/** Makes a new transaction wait until another API key decides, or its time is over. Pure. */
export function awaitApproval(
  transaction: Transaction,
  { relayer, actor, chain, results }: Waiting,
): AwaitingTransaction {
  const reasons = results.map(({ subject, rule, detail }) => ({ subject, rule, detail }))
  const createdAt = transaction.createdAt
  const longest = new Date(createdAt.getTime() + expirySeconds(relayer, actor, results) * 1_000)
  const end = chain.endsAt(transaction.request)
  const expiresAt = end !== undefined && end < longest ? end : longest
  const details = reasons.map(({ detail }) => detail).join(' ')
  return {
    transaction: {
      ...transaction,
      awaitsApproval: true,
      statusReason: `It waits for an approval until ${expiresAt.toISOString()}. ${details}`,
    },
    approval: {
      transactionId: transaction.id,
      relayerId: relayer.id,
      requestedBy: actor.keyId,
      reasons,
      createdAt,
      expiresAt,
    },
  }
}

/** The shortest time of the spenders whose rules ask for the approval, in seconds. */
function expirySeconds(relayer: Relayer, actor: Actor, results: readonly RuleResult[]): number {
  const asking = new Set(results.map(({ subject }) => subject))
  const times = spendersOf(relayer, actor)
    .filter(({ subject }) => asking.has(subject))
    .map(({ rules }) => rules.require_approval?.expires_after_seconds ?? DEFAULT_EXPIRY_SECONDS)
  return Math.min(...times)
}
