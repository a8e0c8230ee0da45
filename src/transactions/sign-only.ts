import type { Actor } from '../access/actor.ts'
import type { SignedDraft } from '../chains/attempt.ts'
import type { UnsignedTransaction } from '../chains/unsigned.ts'
import { inactive, receiverForbidden, shortOfFunds } from '../relayers/policy.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { raiseKnownNonce } from '../relayers/store.ts'
import { chargeSignature } from './budgets/charge.ts'
import { accountOf, type TransactionsContext } from './model/runtime.ts'
import { NOTHING_SIGNED, requireAnswer } from './require-answer.ts'
import { reservedBy } from './store/work-store.ts'

/** Signs a transaction of the relayer's network type without storing or broadcasting it. */
export type TransactionSigner = (
  relayer: Relayer,
  unsigned: UnsignedTransaction,
  actor: Actor,
) => Promise<SignedDraft>

/**
 * Signs a transaction that the caller broadcasts itself, under the rules of sending. Nothing is stored, and no nonce is assigned. The service
 * never sees the transaction again, so it refuses what it cannot check now.
 * @throws AppError with the rule that the transaction breaks, or `network_unavailable` when no node answers
 */
export function createTransactionSigner(context: TransactionsContext): TransactionSigner {
  return async (relayer, unsigned, actor) => {
    const { chain, account, sourceAccounts } = context.runtimeOf(relayer)
    const refusal = inactive(relayer)
    if (refusal) throw refusal
    const answer = await chain.review(unsigned, accountOf(relayer))
    const { request, effects, cost, nextNonce, sign } = requireAnswer(answer, NOTHING_SIGNED)
    const forbidden = request && receiverForbidden(relayer, request)
    if (forbidden) throw forbidden
    if (cost > 0n) await checkFunds(context, relayer, cost)
    await chargeSignature(context, { relayer, actor }, { effects, cost })
    if (sourceAccounts.some(({ address }) => address === nextNonce?.address) && nextNonce)
      await raiseKnownNonce(context.db, { relayerId: relayer.id, ...nextNonce, within: MAX_AHEAD })
    return sign(account.signer)
  }
}

/**
 * A nonce of content that only its caller sends explains what the chain uses only as far as this beyond the others: one that is far ahead
 * cannot be used soon, and would hide nonces that nobody explains.
 */
const MAX_AHEAD = 1_000n

async function checkFunds(context: TransactionsContext, relayer: Relayer, cost: bigint): Promise<void> {
  const { chain } = context.runtimeOf(relayer)
  const [balance, reserved] = await Promise.all([
    chain.balance(relayer.address),
    reservedBy(context.db, relayer.id, { now: new Date(context.clock.now()) }),
  ])
  const short = shortOfFunds(relayer, {
    unit: chain.unit,
    balance: requireAnswer(balance, NOTHING_SIGNED),
    reserved,
    cost,
  })
  if (short) throw short
}
