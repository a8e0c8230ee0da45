import type { Attempt, Chain, Draft } from '../chains/chain.ts'
import type { Schemas } from '../contract/operations.ts'
import type { TransactionWithAttempts } from '../transactions/transaction.ts'
import { defined } from './defined.ts'

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
    nonce: transaction.nonce,
    ...(shown === undefined ? presentRequest(transaction.request) : presentAttemptContent(shown)),
    speed: presentSpeed(transaction.request.speed, chain),
  })
}

/** The same with every attempt, for answers about a single transaction. */
export function presentWithAttempts(
  item: TransactionWithAttempts,
  chain: Chain,
): Schemas['TransactionWithAttempts'] {
  return { ...presentTransaction(item, chain), attempts: item.attempts.map(presentAttempt) }
}

function presentAttempt(attempt: Attempt): Schemas['Attempt'] {
  return defined({
    number: attempt.number,
    kind: attempt.kind,
    nonce: attempt.nonce,
    outcome: attempt.outcome,
    hash: attempt.signed.hash,
    ...presentDraft(attempt.draft),
    signed_at: attempt.signedAt.toISOString(),
    broadcast_at: attempt.broadcastAt?.toISOString(),
    error: attempt.error,
  })
}

function presentAttemptContent({ draft, signed }: Attempt) {
  return { hash: signed.hash, ...presentDraft(draft), signature: signed.signature }
}

/** Nothing is signed yet: what was asked for, as far as it was asked for. */
function presentRequest(request: TransactionWithAttempts['transaction']['request']) {
  return {
    to: request.to,
    value: String(request.value),
    data: request.data,
    gas_limit: request.gasLimit,
    gas_price: request.gasPrice?.toString(),
    max_fee_per_gas: request.maxFeePerGas?.toString(),
    max_priority_fee_per_gas: request.maxPriorityFeePerGas?.toString(),
  }
}

function presentDraft({ to, value, data, gasLimit, fees }: Draft) {
  const prices =
    fees.kind === 'legacy'
      ? { gas_price: String(fees.gasPrice) }
      : {
          max_fee_per_gas: String(fees.maxFeePerGas),
          max_priority_fee_per_gas: String(fees.maxPriorityFeePerGas),
        }
  return { to, value: String(value), data, gas_limit: gasLimit, ...prices }
}

function presentSpeed(level: TransactionWithAttempts['transaction']['request']['speed'], chain: Chain) {
  if (level === undefined) return undefined
  const { priceMultiplier, raiseAfterSeconds } = chain.speed(level)
  return { level, price_multiplier: priceMultiplier, raise_after_seconds: raiseAfterSeconds }
}
