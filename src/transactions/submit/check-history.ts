import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { findSignedTransactions } from '../../audit/read-store.ts'
import type { Answer } from '../../chains/answer.ts'
import type { HistoryMark, HistoryReading, KnownTransactions } from '../../chains/capabilities.ts'
import type { Chain } from '../../chains/chain.ts'
import type { Db } from '../../database/db.ts'
import { type Clock, withTimeout } from '../../lib/time.ts'
import type { HistoryCheck } from '../../relayers/health/health.ts'
import { sharesAccount } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { findHistoryMark, raiseHistoryMark } from '../../relayers/store.ts'
import type { Transaction } from '../model/transaction.ts'
import { findHashOwners } from '../store/attempts-store.ts'

/**
 * A transaction that is signed within this time of its acceptance needs no check of the history, in ms: no
 * database fails over to a standby without its last commits, or is restored, in this time. A shorter time
 * costs a call for each step under load.
 */
const FRESH_MS = 2_000

/** A caller waits at most this long, in ms. A longer read continues, and the next caller finds its mark. */
const MAX_WAIT_MS = 4_000

/**
 * The mark is stored again when it is this many slots behind, about three minutes, although nothing came
 * after it, so that a mark stays young while the service runs.
 */
const STORED_EVERY_SLOTS = 500n

/**
 * A mark older than this, in slots, about twenty minutes, means that the service did not run, or that its
 * database is an old one. Then an unknown transaction may have been signed just before the start.
 */
const OLD_MARK_SLOTS = 3_000n

/**
 * Signed content can be included for 151 blocks, and is final 32 blocks later. This many slots contain these
 * blocks, even if half of the slots have none.
 */
const SETTLED_AFTER_SLOTS = 400n

/**
 * An account that was compared with the records longer ago than this has rested, in ms. It is compared again
 * before it signs, as one that is checked in turns may not have been for hours.
 */
const RESTED_MS = 60_000

/** Compares the history of a relayer's account with the records, on chains whose accounts have no nonces. */
export interface HistoryChecker {
  /** Never rejects. */
  check(relayer: Relayer, chain: Chain): Promise<HistoryCheck>
  /** Returns true if this process has not tried to compare the account for a minute, on such chains. */
  hasRested(relayer: Relayer, chain: Chain): boolean
}

interface HistoryCheckerDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Creates the checker of this process. The service stores what it signs before it leaves the process (I3). So
 * a transaction of the account without a record was signed by another program with the key, or the database
 * went back in time: then waiting transactions may already be paid. The mark up to which the records explain
 * the history is in the same database as the records, so that both go back together. Concurrent checks of a
 * relayer that begin at the same mark share a read.
 */
export function createHistoryChecker({ db, clock, log }: HistoryCheckerDeps): HistoryChecker {
  const readings = new Map<string, Promise<HistoryCheck>>()
  /** The finalized slot at the first reading after an old mark, by relayer. */
  const oldSince = new Map<string, bigint>()
  /**
   * The mark in the database when this process found the account explained. One with the same mark has not
   * gone back, however old it is.
   */
  const explained = new Map<string, HistoryMark>()
  /**
   * The time of the last try, by relayer, in ms of the monotonic clock: while no endpoint answers, one is
   * made a minute.
   */
  const comparedAt = new Map<string, number>()

  async function read(relayer: Relayer, chain: Chain, mark: HistoryMark | undefined): Promise<HistoryCheck> {
    const { history } = chain.trustedChain ?? chain
    if (history === undefined || sharesAccount(relayer)) return EXPLAINED
    const answer = await history.readAfter(relayer.address, mark, knownIn(db))
    if (answer.kind !== 'ok') return unknownOf(answer)
    const { unexplained, asOf, mark: next } = answer.value
    const explainedTo = mark?.slot ?? next.slot
    if (unexplained.length > 0) return { kind: 'unexplained', transactions: unexplained, explainedTo }
    const isKnown = mark !== undefined && isDeepStrictEqual(mark, explained.get(relayer.id))
    if (!isKnown && explainedTo + OLD_MARK_SLOTS < asOf) {
      const since = oldSince.get(relayer.id) ?? asOf
      oldSince.set(relayer.id, since)
      if (asOf < since + SETTLED_AFTER_SLOTS) return NOT_SETTLED
    }
    oldSince.delete(relayer.id)
    const isStored =
      mark !== undefined && next.hash === mark.hash && next.slot < mark.slot + STORED_EVERY_SLOTS
    if (!isStored) await raiseHistoryMark(db, relayer, next)
    explained.set(relayer.id, isStored ? mark : next)
    return EXPLAINED
  }

  async function readOnce(relayer: Relayer, chain: Chain): Promise<HistoryCheck> {
    const { id } = relayer
    try {
      // A read that began before an operator accepted what it finds has an older mark, and tells the past.
      const mark = await findHistoryMark(db, relayer)
      const key = `${id} ${mark?.slot} ${mark?.hash}`
      const present = readings.get(key)
      if (present !== undefined) return await present
      const reading = read(relayer, chain, mark).finally(() => readings.delete(key))
      readings.set(key, reading)
      return await reading
    } catch (error) {
      log.error({ err: error, relayer: id }, 'history could not be compared with the records; retrying')
      return { kind: 'unknown', detail: 'the service could not compare it with the records' }
    }
  }

  const isCompared = (relayer: Relayer, chain: Chain) =>
    chain.history !== undefined && !sharesAccount(relayer)

  return {
    check: async (relayer, chain) => {
      if (!isCompared(relayer, chain)) return EXPLAINED
      comparedAt.set(relayer.id, clock.monotonic())
      return (await withTimeout(clock, MAX_WAIT_MS, readOnce(relayer, chain))) ?? LATE
    },
    hasRested: (relayer, chain) => {
      const at = comparedAt.get(relayer.id) ?? Number.NEGATIVE_INFINITY
      return isCompared(relayer, chain) && clock.monotonic() - at > RESTED_MS
    },
  }
}

const EXPLAINED: HistoryCheck = { kind: 'explained' }
const LATE: HistoryCheck = { kind: 'unknown', detail: 'no endpoint returned it in time' }
const NOT_SETTLED: HistoryCheck = {
  kind: 'unknown',
  detail: 'the records are old, and transactions signed just before the start may still be included',
}

function unknownOf(answer: Exclude<Answer<HistoryReading>, { kind: 'ok' }>): HistoryCheck {
  return { kind: 'unknown', detail: answer.kind === 'refused' ? answer.refusal.detail : answer.detail }
}

function knownIn(db: Db): KnownTransactions {
  return {
    withoutRecord: async (hashes) => {
      const owners = await findHashOwners(db, hashes)
      return hashes.filter((hash) => !owners.has(hash))
    },
    unexplained: async (own) => {
      const digests = own.map(({ sha256 }) => sha256)
      const signed = await findSignedTransactions(db, digests)
      return own.filter(({ sha256 }) => !signed.has(sha256))
    },
  }
}

/**
 * Returns true if the transaction may have been signed before by this service, with a database that had more
 * records: everything that waits, and everything that the database had when this process opened it. What was
 * accepted a moment ago is in the records that are being written.
 */
export function mayBeSignedBefore(
  { version, createdAt }: Transaction,
  { now, startedAt }: { readonly now: number; readonly startedAt: number },
): boolean {
  const created = createdAt.getTime()
  const age = now - created
  return version > 1 || created < startedAt || age < 0 || age > FRESH_MS
}
