import type { Attempt } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import type { Transaction, TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { presentEvmAttempt, presentEvmContent } from './evm.ts'
import { presentSolanaAttempt, presentSolanaContent } from './solana.ts'
import { presentStellarAttempt, presentStellarContent } from './stellar.ts'

/**
 * A transaction as the contract shows it in lists: with the attempt that counts. Without a chain, for a relayer that was
 * removed, it does not tell what its speed means.
 */
export function presentTransaction(
  { transaction, attempts }: TransactionWithAttempts,
  chain: Pick<Chain, 'speed'> | undefined,
): Schemas['Transaction'] {
  const shown = attempts.find((attempt) => attempt.number === transaction.currentAttempt)
  return omitUndefined({
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

function presentContent(
  transaction: Transaction,
  shown: Attempt | undefined,
  chain: Pick<Chain, 'speed'> | undefined,
) {
  const { request } = transaction
  switch (request.type) {
    case 'evm':
      return presentEvmContent(transaction, { request, shown, chain })
    case 'solana':
      return presentSolanaContent({ request, shown, chain })
    case 'stellar':
      return presentStellarContent(transaction, { request, shown })
  }
}

function presentDraft(attempt: Attempt, from: string) {
  const { draft } = attempt
  switch (draft.type) {
    case 'evm':
      return presentEvmAttempt(attempt, draft)
    case 'solana':
      return presentSolanaAttempt(attempt, draft)
    case 'stellar':
      return presentStellarAttempt(attempt, draft, from)
  }
}

function presentAttempt(attempt: Attempt, from: string): Schemas['Attempt'] {
  return omitUndefined({
    number: attempt.number,
    kind: attempt.kind,
    outcome: attempt.outcome,
    hash: attempt.signed.hash,
    ...presentDraft(attempt, from),
    signed_at: attempt.signedAt.toISOString(),
    broadcast_at: attempt.broadcastAt?.toISOString(),
    error: attempt.error,
  })
}
