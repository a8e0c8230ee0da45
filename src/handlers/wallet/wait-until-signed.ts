import type { Db } from '../../database/schema.ts'
import type { EventNotifier } from '../../events/notifier.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { isFinal } from '../../transactions/model/transitions.ts'
import { requireTransaction } from '../../transactions/store/require-transaction.ts'
import type { WalletRequest } from './wallet-call.ts'

/** The parts of the service that a wait needs. */
export interface WaitDeps {
  readonly db: Db
  readonly clock: Clock
  readonly notifier: EventNotifier
}

/** The time in ms after which a wait looks again without an event, because a lost connection to the database loses announcements. */
const BACKSTOP_MS = 500

/** The least time in ms between the first two looks. It doubles up to `BACKSTOP_MS`, because the events of all relayers wake every wait. */
const FIRST_PAUSE_MS = 10

/** Waits until a transaction is signed, has ended, or needs an approval, or until the deadline, and returns it as it is then. */
export async function waitUntilSigned(
  { db, clock, notifier }: WaitDeps,
  { relayer, deadline, context }: WalletRequest,
  item: TransactionWithAttempts,
): Promise<TransactionWithAttempts> {
  const listener = notifier.add()
  try {
    for (let seen = item, pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, BACKSTOP_MS)) {
      const left = deadline - clock.monotonic()
      if (isDecided(seen) || left <= 0 || context.signal.aborted) return seen
      const changed = listener.arm()
      seen = await requireTransaction(db, relayer, item.transaction.id)
      if (isDecided(seen)) return seen
      await clock.sleep(Math.min(left, BACKSTOP_MS), changed)
      await clock.sleep(Math.min(left, pauseMs))
    }
  } finally {
    listener.remove()
  }
}

function isDecided({ transaction, attempts }: TransactionWithAttempts): boolean {
  return attempts.length > 0 || transaction.awaitsApproval === true || isFinal(transaction.status)
}
