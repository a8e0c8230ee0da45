import type { BroadcastResult } from '../chains/answer.ts'
import type { Attempt } from '../chains/attempt.ts'
import { isForeign, type Operator, type TransactionsContext } from './context.ts'
import { isNoop } from './noop.ts'
import { tellFinished } from './observer.ts'
import { patienceMs } from './patience.ts'
import { postponeTransactions } from './postpone-store.ts'
import { settleBroadcast } from './settle-broadcast.ts'
import { saveOutcomes, saveTransactions } from './store.ts'
import type { Transaction, TransactionWithAttempts } from './transaction.ts'

/**
 * Offers the current attempt of each transaction to the network and writes down what the node said. The bytes are
 * stored already, so this may be repeated at any time, by anybody. Returns what was written; a record that somebody
 * else changed meanwhile is left to them.
 */
export async function broadcastCurrent(
  context: TransactionsContext,
  operator: Operator,
  items: readonly TransactionWithAttempts[],
): Promise<{ transaction: Transaction; result: BroadcastResult }[]> {
  const ready = items.flatMap((item) => {
    const attempt = currentAttempt(item)
    return attempt === undefined || isUnwanted(operator, item, attempt) ? [] : [{ ...item, attempt }]
  })
  if (ready.length === 0) return []
  const { chain } = operator
  const results = await chain.broadcast(ready.map((item) => item.attempt.signed.raw))
  const now = new Date(context.clock.now())
  const settled = ready.map((item, index) => {
    const result = results[index] ?? { kind: 'unknown', detail: 'no reply' }
    const raiseAfterMs = patienceMs(chain, item.transaction)
    return {
      before: item.transaction,
      result,
      ...settleBroadcast({
        item,
        attempt: item.attempt,
        result,
        now,
        costOf: chain.cost,
        raiseAfterMs,
        lapses: chain.traits.lapses,
        foreign: isForeign(operator, item.transaction),
        numbered: chain.traits.nonces,
        offerAgainAfterMs: chain.traits.offerAgainAfterMs,
      }),
    }
  })
  const saved = await context.db.transaction().execute(async (tx) => {
    const { postponed = [], changed = [] } = Object.groupBy(settled, ({ before, transaction }) =>
      isOnlyLater(before, transaction) ? 'postponed' : 'changed',
    )
    await postponeTransactions(
      tx,
      postponed.map((entry) => entry.transaction),
    )
    const written = await saveTransactions(
      tx,
      changed.map((entry) => entry.transaction),
    )
    await saveOutcomes(
      tx,
      settled.map((entry) => entry.outcome),
      { openOnly: true },
    )
    return new Map(written.map((transaction) => [transaction.id, transaction]))
  })
  tellFinished(context, [...saved.values()])
  tellSubmitted(context, ready, saved)
  return settled.map(({ transaction, result }) => ({
    transaction: saved.get(transaction.id) ?? transaction,
    result,
  }))
}

/** Whether nothing is new but the time of the next look. */
function isOnlyLater(before: Transaction, after: Transaction): boolean {
  const fields = Object.keys(after) as (keyof Transaction)[]
  return fields.every((field) => field === 'nextRunAt' || after[field] === before[field])
}

function tellSubmitted(
  { observer }: TransactionsContext,
  before: readonly TransactionWithAttempts[],
  saved: ReadonlyMap<string, Transaction>,
): void {
  if (observer === undefined) return
  const submitted = before.flatMap(({ transaction: { id, sentAt } }) => {
    const now = saved.get(id)
    return sentAt === undefined && now?.sentAt !== undefined ? [now] : []
  })
  if (submitted.length > 0) observer.submitted(submitted)
}

/** What is only waited for until it lapses, because something else is to follow it, is not offered again. */
function isUnwanted(
  { chain }: Operator,
  { transaction: { intent } }: TransactionWithAttempts,
  { kind }: Attempt,
): boolean {
  if (!chain.traits.lapses) return false
  return intent === 'successor' || (isNoop(intent) && kind !== intent)
}

/** The attempt whose bytes count at present. */
export function currentAttempt({ transaction, attempts }: TransactionWithAttempts): Attempt | undefined {
  return attempts.find((attempt) => attempt.number === transaction.currentAttempt)
}
