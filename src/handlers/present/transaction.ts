import type { Attempt } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import type { Transaction, TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { isEvmAttempt, presentEvmAttempt, presentEvmContent } from './evm.ts'
import { isSolanaAttempt, presentSolanaAttempt, presentSolanaContent } from './solana.ts'
import { isStellarAttempt, presentStellarAttempt, presentStellarContent } from './stellar.ts'

/**
 * A transaction as the contract shows it in lists: with the attempt that counts. Without a chain, for a relayer that was
 * removed, it does not tell what its speed means.
 */
export function presentTransaction(
  { transaction, attempts }: TransactionWithAttempts,
  chain: Pick<Chain, 'speed'> | undefined,
): Schemas['Transaction'] {
  const shown = attempts.find((attempt) => attempt.number === transaction.currentAttempt)
  const common = presentCommon(transaction, shown)
  const { request } = transaction
  switch (request.type) {
    case 'evm':
      return omitUndefined({ ...common, ...presentEvmContent(transaction, { request, shown, chain }) })
    case 'solana':
      return omitUndefined({ ...common, ...presentSolanaContent({ request, shown, chain }) })
    case 'stellar':
      return omitUndefined({ ...common, ...presentStellarContent(transaction, { request, shown }) })
  }
}

/** The same with every attempt, for answers about a single transaction. */
export function presentWithAttempts(
  item: TransactionWithAttempts,
  chain: Chain,
): Schemas['TransactionWithAttempts'] {
  const shown = presentTransaction(item, chain)
  const { attempts } = item
  switch (shown.network_type) {
    case 'evm':
      return { ...shown, attempts: attempts.filter(isEvmAttempt).map(presentEvmAttempt) }
    case 'solana':
      return { ...shown, attempts: attempts.filter(isSolanaAttempt).map(presentSolanaAttempt) }
    case 'stellar': {
      const { from } = item.transaction
      const present = attempts.filter(isStellarAttempt).map((attempt) => presentStellarAttempt(attempt, from))
      return { ...shown, attempts: present }
    }
  }
}

function presentCommon(transaction: Transaction, shown: Attempt | undefined) {
  return {
    id: transaction.id,
    relayer_id: transaction.relayerId,
    status: transaction.status,
    status_reason: transaction.statusReason,
    awaits_approval: transaction.awaitsApproval === true ? (true as const) : undefined,
    undecided_since: transaction.undecidedSince?.toISOString(),
    top_up_of: transaction.topUpOf,
    valid_from: transaction.request.validFrom?.toISOString(),
    created_at: transaction.createdAt.toISOString(),
    sent_at: (shown?.broadcastAt ?? transaction.sentAt)?.toISOString(),
    confirmed_at: transaction.confirmedAt?.toISOString(),
    from: transaction.from,
    hash: shown?.signed.hash,
    signature: shown?.signed.signature,
  }
}
