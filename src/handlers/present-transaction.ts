import type { Attempt } from '../chains/attempt.ts'
import type { Chain } from '../chains/chain.ts'
import type { Schemas } from '../contract/operations.ts'
import { defined } from '../defined.ts'
import type { Transaction, TransactionWithAttempts } from '../transactions/transaction.ts'
import { presentEvmAttempt, presentEvmContent } from './present-evm.ts'
import { presentStellarAttempt, presentStellarContent } from './present-stellar.ts'

/** A transaction as the contract shows it in lists: with the attempt that counts. */
export function presentTransaction(
  { transaction, attempts }: TransactionWithAttempts,
  chain: Chain,
): Schemas['Transaction'] {
  const shown = attempts.find((attempt) => attempt.number === transaction.currentAttempt)
  return defined({
    id: transaction.id,
    relayer_id: transaction.relayerId,
    status: transaction.status,
    status_reason: transaction.statusReason,
    created_at: transaction.createdAt.toISOString(),
    sent_at: (shown?.broadcastAt ?? transaction.sentAt)?.toISOString(),
    confirmed_at: transaction.confirmedAt?.toISOString(),
    from: transaction.from,
    hash: shown?.signed.hash,
    signature: shown?.signed.signature,
    ...presentContent(transaction, shown, chain),
  })
}

/** The same with every attempt, for answers about a single transaction. */
export function presentWithAttempts(
  item: TransactionWithAttempts,
  chain: Chain,
): Schemas['TransactionWithAttempts'] {
  return {
    ...presentTransaction(item, chain),
    attempts: item.attempts.map((attempt) => presentAttempt(attempt, item.transaction.from)),
  }
}

function presentContent(transaction: Transaction, shown: Attempt | undefined, chain: Chain) {
  const { request } = transaction
  return request.type === 'evm'
    ? presentEvmContent(transaction, { request, shown, chain })
    : presentStellarContent(transaction, { request, shown })
}

function presentAttempt(attempt: Attempt, from: string): Schemas['Attempt'] {
  const { draft } = attempt
  return defined({
    number: attempt.number,
    kind: attempt.kind,
    outcome: attempt.outcome,
    hash: attempt.signed.hash,
    ...(draft.type === 'evm'
      ? presentEvmAttempt(attempt, draft)
      : presentStellarAttempt(attempt, draft, from)),
    signed_at: attempt.signedAt.toISOString(),
    broadcast_at: attempt.broadcastAt?.toISOString(),
    error: attempt.error,
  })
}
