import { isNoop } from '../model/attempts.ts'
import { accountOf, type LeasedAccount, type TransactionsContext } from '../model/runtime.ts'
import type { TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { findHead } from '../store/queue-store.ts'
import { saveInOwnTransaction } from '../store/transactions-store.ts'
import { signAll, storeSigned } from '../submit/sign.ts'
import { markStuck } from '../watch/stuck.ts'
import { broadcastCurrent, currentAttempt } from './broadcast.ts'
import type { Refused } from './rebroadcast.ts'
import { willBePublic } from './route.ts'
import { isComparisonDue } from './unclear.ts'

/**
 * Decides about the first transaction of the account's queue when nodes refuse it again and again in unknown words: a no-op with its nonce is
 * signed, stored and broadcast right after the refusal. A node that takes it refuses the content and not everything, and the transaction ends
 * with this no-op (`settle-broadcast.ts`). The others of the queue cannot be included before the first, so nothing is asked about them. A crash
 * between any two steps changes nothing: the no-op is broadcast then by the next step, and the chain decides between all attempts (I4).
 */
export async function compareRefused(
  context: TransactionsContext,
  leased: LeasedAccount,
  refused: readonly Refused[],
): Promise<void> {
  const { relayer, runtime } = leased
  if (refused.length === 0 || runtime.chain.comparison === undefined) return
  const head = await findHead(context.db, relayer.id)
  const first = refused.find(({ transaction }) => transaction.id === head?.id)
  if (head === undefined || first === undefined) return
  const attempts = await findAttempts(context.db, [head])
  const item = { transaction: head, attempts: attempts.get(head.id) ?? [] }
  if (!isComparisonDue(item, first.unanswered) || !(await isNext(leased, item))) return
  // A no-op that nodes refuse needs no other to be compared with.
  if (isNoop(head.purpose)) return head.stuckSince ? undefined : markStuck(context, head)
  if (!willBePublic(relayer, head)) await compare(context, leased, item)
}

/** A nonce that the chain has passed, or has not reached, explains every refusal. Unknown is neither (I6). */
async function isNext(
  { runtime }: LeasedAccount,
  { transaction }: TransactionWithAttempts,
): Promise<boolean> {
  const { sourceAccount = transaction.from, nonce } = transaction
  const [next] = (await runtime.chain.sequencing?.nonces([sourceAccount])) ?? []
  return next?.kind === 'ok' && next.value === nonce
}

async function compare(
  context: TransactionsContext,
  { relayer, runtime, lease }: LeasedAccount,
  item: TransactionWithAttempts,
): Promise<void> {
  const { chain } = runtime
  const { transaction, attempts } = item
  const current = currentAttempt(item)
  if (current === undefined || chain.comparison === undefined) return
  const [balance, noop] = await Promise.all([
    chain.balance(transaction.from),
    chain.comparison.prepareNoop(current, accountOf(relayer)),
  ])
  if (balance.kind !== 'ok' || noop.kind !== 'ok') return
  // The no-op costs less, so it would show nothing.
  if (balance.value < chain.cost(current.draft)) {
    const statusReason = `Waiting for funds: the account can spend ${balance.value} ${chain.unit}, and this takes up to ${chain.cost(current.draft)}; the nodes refuse it: ${current.error ?? ''}`
    await saveInOwnTransaction(context, [{ ...transaction, statusReason }])
    return
  }
  const statusReason = `The nodes refuse it in words that the service does not know (${current.error ?? ''}). A no-op with its nonce is broadcast: if a node takes that one, the transaction ends.`
  const signable = {
    transaction: { ...transaction, statusReason },
    attempts,
    draft: noop.value.draft,
    kind: 'abandon' as const,
  }
  const signed = await signAll(context, runtime, [signable])
  await broadcastCurrent(context, runtime, await storeSigned(context, { runtime, signed, lease }))
}
