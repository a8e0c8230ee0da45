import type { Database } from '../../../src/database/db.ts'
import {
  countDead,
  countUntriedEvents,
  findOldestWaiting,
} from '../../../src/notifications/delivery/delivery-store.ts'
import { readDue, readFresh, readStarts } from '../../../src/notifications/delivery/outgoing-store.ts'
import { findSubjects } from '../../../src/relayers/health/health-store.ts'
import { findUnsettled } from '../../../src/spending/spending-store.ts'
import { findLateApprovals } from '../../../src/transactions/approvals/approvals-store.ts'
import {
  findDueInFlight,
  findDueRelayers,
  findLatestSetup,
  findWatched,
  measureInFlight,
  reservedBy,
} from '../../../src/transactions/store/due-store.ts'
import {
  countByStatus,
  findHighestFinalBlock,
  findNewestFinal,
  hasRecentlyFinal,
} from '../../../src/transactions/store/finished-store.ts'
import { findQueueHeads, findSubmittable } from '../../../src/transactions/store/queue-store.ts'

type Db = Database['db']

/** Queries by name. */
export type Queries = Readonly<Record<string, (db: Db) => Promise<unknown>>>

/** What the submit worker asks before each step of this relayer. */
export function claimsOf(relayerId: string): Queries {
  return {
    'claim: who has work': (db) => findDueRelayers(db, new Date()),
    'claim: what is pending': (db) =>
      findSubmittable(db, relayerId, { now: new Date(), limits: { pending: 100, overtaken: 4 } }),
    'claim: what is in flight': (db) => measureInFlight(db, relayerId),
    'claim: what is to be offered again': (db) => findDueInFlight(db, relayerId, new Date()),
    'claim: what is watched': (db) => findWatched(db, [relayerId]),
    'claim: what is reserved': (db) => reservedBy(db, relayerId, { now: new Date() }),
  }
}

const DAY_MS = 86_400_000

/** What the other workers ask again and again. `newest`: the number of the newest event. */
export function otherWork(
  relayerIds: readonly string[],
  { notificationId, newest }: { readonly notificationId: string; readonly newest: bigint },
): Queries {
  const since = () => new Date(Date.now() - DAY_MS)
  const [relayerId = ''] = relayerIds
  return {
    'claim: the newest setup': (db) => findLatestSetup(db, relayerId),
    'watch: what blocks an account': (db) => findQueueHeads(db, new Date()),
    'watch: whether blocks are checked again': (db) => hasRecentlyFinal(db, relayerIds, since()),
    'watch: the newest final': (db) => findNewestFinal(db, { relayerIds, since: since() }),
    'watch: the highest final block': (db) =>
      findHighestFinalBlock(db, { relayerIds, since: since(), until: new Date() }),
    'health: the nonces of all accounts': (db) => findSubjects(db, relayerIds),
    'metrics: transactions by status': (db) => countByStatus(db, new Date()),
    'metrics: deliveries that wait': (db) => findOldestWaiting(db),
    'metrics: events without a try': (db) => countUntriedEvents(db),
    'alerts: dead letters': (db) => countDead(db),
    'spending: what is not settled': (db) => findUnsettled(db, 100),
    'approvals: what is late': (db) => findLateApprovals(db, new Date(), 100),
    'deliveries: where they begin': (db) => readStarts(db, [notificationId]),
    'deliveries: what is new': (db) =>
      readFresh(db, [{ notificationId, after: newest > 200n ? newest - 200n : 0n, limit: 100 }], newest),
    'deliveries: what is due': (db) => readDue(db, [{ notificationId, limit: 100 }]),
  }
}
