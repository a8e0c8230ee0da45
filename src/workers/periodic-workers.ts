import type { Logger } from 'pino'
import type { Database } from '../database/db.ts'
import { acquireLease } from '../database/lease.ts'
import { transact } from '../database/locks/transact.ts'
import { vacuumEmbedded } from '../database/sql-helpers.ts'
import { deleteOldEvents } from '../events/retention-store.ts'
import { lastNumber } from '../events/store.ts'
import type { Clock } from '../lib/time.ts'
import { foldCounts } from '../notifications/delivery/delivery-store.ts'
import { removeDrained } from '../relayers/accounts/pool-store.ts'
import { findAllWaiting, findMoved, hasWaiting, type Waiting } from '../transactions/after/after-store.ts'
import { expireWaiting, releaseWaiting } from '../transactions/after/release.ts'
import { expireApprovals } from '../transactions/approvals/await-approval.ts'
import { deleteOldBudgets, releaseBudgets } from '../transactions/budgets/settle.ts'
import type { TransactionsContext } from '../transactions/model/runtime.ts'
import { deleteOldTransactions } from '../transactions/store/retention-store.ts'
import { type TopUpOptions, topUpRelayer, withoutRich } from '../transactions/top-up/top-up.ts'
import { listFilled } from '../transactions/top-up/top-up-store.ts'
import { type QueueHeads, reportStuck } from '../transactions/watch/stuck.ts'
import { createLeasedLoop, createLoop, type Loop } from './loop.ts'

/**
 * Time in ms until what a final transaction did not spend is given back, and until one that waited too long
 * for an approval ends.
 */
const SPENDING_INTERVAL_MS = 2_000

/** Time in ms that the lease lasts. */
const SPENDING_LEASE_MS = 10_000

/** Time in ms between two deletions of what no period counts. */
const DELETE_EVERY_MS = 3_600_000

/**
 * Ends transactions that waited too long for an approval, releases the unspent part of budgets, and removes
 * accounts that have drained, in one process at a time.
 */
export function createSpendingWorker(context: TransactionsContext): Loop {
  const { db, clock, owner, log } = context
  let deletedAt = clock.monotonic()
  return createLeasedLoop({
    name: 'spending',
    intervalMs: SPENDING_INTERVAL_MS,
    ttlMs: SPENDING_LEASE_MS,
    db,
    owner,
    clock,
    log,
    work: async () => {
      await expireApprovals(context)
      await releaseBudgets(context)
      const drained = await transact(db, (tx) => removeDrained(tx))
      if (drained.length > 0) log.info({ accounts: drained }, 'drained accounts have left their relayers')
      if (clock.monotonic() - deletedAt < DELETE_EVERY_MS) return
      deletedAt = clock.monotonic()
      await deleteOldBudgets(context)
    },
  })
}

/** Time in ms until what a transaction has waited for is noticed. */
const AFTER_INTERVAL_MS = 1_000

/**
 * Lets transactions go on, or ends them, when those that they wait for have moved. It follows the log of
 * events while any waits, so that a waiting transaction costs nothing until the other one moves. Every process
 * does it: what it has read is in its memory alone, so the first round after a start looks at all that wait.
 *
 * Nothing is missed: a change that the look at a transaction does not see yet is committed after it, so its
 * event has a number above the last one of that round. A transaction that begins to wait has an event too.
 */
export function createAfterWorker(context: TransactionsContext): Loop {
  const { db, clock, log } = context
  /** The number up to which the log was read; undefined while nothing waits. */
  let read: bigint | undefined
  let again: readonly Waiting[] = []
  return createLoop({
    name: 'after',
    intervalMs: AFTER_INTERVAL_MS,
    clock,
    log,
    work: async () => {
      if (!(await hasWaiting(db))) {
        read = undefined
        again = []
        return
      }
      // A transaction that ends moves those behind it, and the next read finds them.
      for (let isMoving = true; isMoving; ) {
        const upTo = await lastNumber(db)
        const moved =
          read === undefined ? await findAllWaiting(db) : await findMoved(db, { after: read, upTo })
        const { changed, conflicting } = await releaseWaiting(context, [...again, ...moved])
        again = conflicting
        read = upTo
        isMoving = changed > 0
      }
      await expireWaiting(context)
    },
  })
}

/**
 * Time in ms between two checks of all queue heads. It is short against the time after which a head counts as
 * stuck.
 */
const STUCK_INTERVAL_MS = 30_000

/** Time in ms that the lease lasts. */
const STUCK_LEASE_MS = 2 * STUCK_INTERVAL_MS

/** Announces transactions that block their account, in one process at a time. */
export function createStuckWorker(context: TransactionsContext): Loop {
  const { db, clock, owner, log } = context
  const seen: QueueHeads = new Map()
  return createLeasedLoop({
    name: 'stuck',
    intervalMs: STUCK_INTERVAL_MS,
    ttlMs: STUCK_LEASE_MS,
    db,
    owner,
    clock,
    log,
    work: () => reportStuck(context, seen),
  })
}

/** Time in ms between two rounds of the loop. A round costs nothing while none is due. */
const TOP_UP_ROUND_MS = 1_000

/** Time in ms that the lease lasts. Two processes that decide at the same time pay only once. */
const TOP_UP_LEASE_MS = 15_000

/**
 * Fills relayers from their treasuries, in one process at a time. A relayer that fails does not affect the
 * others.
 */
export function createTopUpWorker(context: TransactionsContext, options: TopUpOptions): Loop {
  const { db, clock, owner, log } = context
  let dueAt = Number.NEGATIVE_INFINITY
  let round = 0

  async function fill(relayerId: string): Promise<void> {
    try {
      await topUpRelayer(context, relayerId, options)
    } catch (error) {
      log.error({ err: error, relayer: relayerId }, 'top-up failed; retrying')
    }
  }

  const loop = createLeasedLoop({
    name: 'top-ups',
    intervalMs: TOP_UP_ROUND_MS,
    ttlMs: TOP_UP_LEASE_MS,
    db,
    owner,
    clock,
    log,
    work: async () => {
      if (clock.monotonic() < dueAt) return
      dueAt = clock.monotonic() + options.intervalMs
      round += 1
      await Promise.all((await withoutRich(context, await listFilled(db), round)).map(fill))
    },
  })
  return {
    ...loop,
    wake: () => {
      dueAt = Number.NEGATIVE_INFINITY
      loop.wake()
    },
  }
}

/** Time in ms between two cleanups. */
const HOUSEKEEPING_INTERVAL_MS = 3_600_000

/** Time in ms after a cleanup during which no other process starts one. */
const HOUSEKEEPING_LEASE_MS = HOUSEKEEPING_INTERVAL_MS / 2

/**
 * Time in ms between two rounds. It is short, because readiness treats a minute without a round as a fault.
 */
const HOUSEKEEPING_ROUND_MS = 30_000

/**
 * The longest time in ms that a round deletes. The rest is left to the next rounds: deletions of millions of
 * rows leave the database to other work in between, and neither readiness nor a shutdown waits for them.
 */
const HOUSEKEEPING_WORK_MS = 10_000

/** The tables whose rows are deleted with old events, and with old transactions. */
const EMPTIED = {
  events: ['events', 'deliveries', 'delivery_counts'],
  transactions: ['transactions', 'attempts', 'idempotency_keys', 'approvals', 'operator_decisions'],
}

/**
 * The number of deleted rows after which their room is made usable. More of them would block the embedded
 * database for longer.
 */
const VACUUM_EVENTS = 20_000
const VACUUM_TRANSACTIONS = 5_000

interface HousekeepingDeps {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** Identifies this process in leases. */
  readonly owner: string
  /** Time in ms for which events are kept. */
  readonly eventRetentionMs: number
  /** Time in ms for which final transactions are kept; permanently if undefined. */
  readonly transactionRetentionMs: number | undefined
}

/**
 * Deletes events and transactions that are older than their retention times, and vacuums the embedded
 * database, in one process at a time.
 */
export function createHousekeepingWorker(deps: HousekeepingDeps): Loop {
  const { database, clock, log, owner, eventRetentionMs, transactionRetentionMs } = deps
  const { db } = database
  const deleteEvents = async (isOver: () => boolean) => {
    const before = new Date(clock.now() - eventRetentionMs)
    const work = () => vacuumEmbedded(database, EMPTIED.events)
    const afterMany = { events: VACUUM_EVENTS, work }
    const events = await deleteOldEvents(db, { before, afterMany, isOver })
    if (events > 0) log.info({ events, before }, 'events deleted after their retention time')
  }
  const deleteTransactions = async (isOver: () => boolean) => {
    if (transactionRetentionMs === undefined) return
    const before = new Date(clock.now() - transactionRetentionMs)
    const work = () => vacuumEmbedded(database, EMPTIED.transactions)
    const afterMany = { transactions: VACUUM_TRANSACTIONS, work }
    const transactions = await deleteOldTransactions(db, { before, afterMany, isOver })
    if (transactions > 0)
      log.info({ transactions, before }, 'transactions deleted after their retention time')
  }
  let hasRun = false
  /** Undefined before the first round, and while old rows are left. */
  let dueAt: number | undefined
  return createLoop({
    name: 'housekeeping',
    intervalMs: HOUSEKEEPING_ROUND_MS,
    clock,
    log,
    work: async () => {
      const isFirst = !hasRun
      hasRun = true
      await foldCounts(db)
      if (dueAt !== undefined && clock.monotonic() < dueAt) return
      dueAt = clock.monotonic() + HOUSEKEEPING_INTERVAL_MS
      if (
        (await acquireLease(db, { name: 'housekeeping', owner, ttlMs: HOUSEKEEPING_LEASE_MS })) === undefined
      )
        return
      const end = clock.monotonic() + HOUSEKEEPING_WORK_MS
      const isOver = () => clock.monotonic() >= end
      await deleteEvents(isOver)
      await deleteTransactions(isOver)
      if (isOver()) {
        dueAt = undefined
        return
      }
      // The first requests after a start do not wait for it.
      if (!isFirst) await vacuumEmbedded(database)
    },
  })
}
