import { transact } from '../../database/locks/transact.ts'
import { openLedger } from '../../spending/ledger.ts'
import { currentAttempt } from '../broadcast/broadcast.ts'
import { broadcastByRoute, routeOf } from '../broadcast/route.ts'
import { contentKind, hashesOfAll, movesNothing } from '../model/attempts.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { type AttemptNews, findAttempts, saveOutcomes } from '../store/attempts-store.ts'
import {
  type FinalBlock,
  findFinalBlocks,
  findFinalInBlocks,
  findHighestFinalBlock,
  findNewestFinal,
  findReorganized,
  hasRecentlyFinal,
} from '../store/finished-store.ts'
import { announceIncident, saveTransactions } from '../store/transactions-store.ts'
import { askSecondOpinions, type ReceiptClaim } from './finalise.ts'
import type { Inclusion } from './inclusion-reason.ts'
import { finalEvent, included } from './resolution.ts'
import { inclusionOf } from './resolve.ts'
import type { WatchMemory, WatchRound } from './watch-round.ts'
import { withBlockTimes } from './write-resolutions.ts'

/**
 * Time in ms between two checks of the blocks of final transactions. A reorganisation below the network's
 * finality is rare, and a check costs one block hash, and one for each block that has become final since the
 * last one.
 */
const RECHECK_MS = 30_000

/**
 * Time in ms for which the block of a final transaction is checked: a rollup can lose hours of blocks when
 * its sequencer fails.
 */
const RECHECK_WINDOW_MS = 86_400_000

/** The number of blocks per request during the search for the last common block. */
const PAGE = 50

/**
 * Returns true if it is time to check the blocks of final transactions and there are such transactions. Sets
 * the time of the next check.
 */
export async function isRecheckDue({
  context,
  memory,
  relayers,
}: Pick<WatchRound, 'context' | 'relayers'> & { readonly memory: WatchMemory }): Promise<boolean> {
  const now = context.clock.monotonic()
  if (now < memory.recheckAt) return false
  memory.recheckAt = now + RECHECK_MS
  return hasRecentlyFinal(context.db, [...relayers.keys()], windowStart(context.clock.now()))
}

/**
 * Checks that the blocks of final transactions are still in the chain. Each block names its parent, so the
 * highest one of those that were in the chain together, at the last check, represents all of them.
 * Transactions that became final since then are checked block by block: a reorganisation may lie between any
 * two of them, and the newest block then says nothing about the others. If one is gone, the service marks the
 * transactions, announces an event, and broadcasts the same bytes again until a block includes one of the
 * attempts.
 */
export async function recheckFinal(round: WatchRound): Promise<void> {
  const { context, relayers } = round
  const relayerIds = [...relayers.keys()]
  const since = windowStart(context.clock.now())
  const newest = await findNewestFinal(context.db, { relayerIds, since })
  const checkedUntil = uncheckedSince(round, newest)
  const fresh = await findGoneSince(round, checkedUntil)
  const hashes = [...fresh.gone, ...(await findGoneBlocks(round, { since, until: checkedUntil }))].map(
    ({ hash }) => hash,
  )
  round.memory.checkedUntil = fresh.isComplete ? notAhead(context.clock.now(), newest) : checkedUntil
  round.memory.finalSince = Number.POSITIVE_INFINITY
  const lost = await findFinalInBlocks(context.db, { relayerIds, since, hashes })
  if (lost.length > 0) await markReorganized(round, lost)
  const waiting = await findReorganized(context.db, relayerIds)
  if (waiting.length > 0) await restore(round, waiting)
}

/**
 * Returns the time after which transactions may have become final since the last check. Their times are those
 * of the time of day, which can step back: what becomes final afterwards can have an earlier time than what
 * was checked before, and is still new.
 */
function uncheckedSince({ context: { clock }, memory }: WatchRound, newest: Date | undefined): Date {
  // A process that ended between two checks left its last transactions unchecked.
  const checkedUntil =
    memory.checkedUntil?.getTime() ?? (notAhead(clock.now(), newest)?.getTime() ?? 0) - 2 * RECHECK_MS
  return new Date(Math.min(checkedUntil, memory.finalSince - 1))
}

/** What was written while the time of day was ahead is checked one by one until that time has come. */
function notAhead(now: number, newest: Date | undefined): Date | undefined {
  return newest && new Date(Math.min(newest.getTime(), now))
}

function windowStart(now: number): Date {
  return new Date(now - RECHECK_WINDOW_MS)
}

/**
 * Finds all blocks that became final after this time and are no longer in the chain. `isComplete`: every one
 * of them has an answer.
 */
async function findGoneSince(
  round: WatchRound,
  since: Date,
): Promise<{ readonly gone: readonly FinalBlock[]; readonly isComplete: boolean }> {
  const relayerIds = [...round.relayers.keys()]
  const found: ComparedBlock[] = []
  let below: bigint | undefined
  do {
    const blocks = await findFinalBlocks(round.context.db, { relayerIds, since, below, limit: PAGE })
    found.push(...(await compareBlocks(round, blocks)))
    below = blocks.length === PAGE ? blocks.at(-1)?.number : undefined
  } while (below !== undefined)
  return {
    gone: found.filter(({ fate }) => fate === 'gone'),
    isComplete: found.every(({ fate }) => fate !== 'unknown'),
  }
}

/**
 * Finds the blocks that became final in this time and are no longer in the chain, from the highest down. They
 * were in one chain together. A block without an answer ends the search (I6).
 */
async function findGoneBlocks(
  round: WatchRound,
  window: { readonly since: Date; readonly until: Date },
): Promise<FinalBlock[]> {
  const { context, relayers } = round
  const relayerIds = [...relayers.keys()]
  const highest = await findHighestFinalBlock(context.db, { relayerIds, ...window })
  if (highest === undefined) return []
  const gone = [...(await takeWhileGone(round, [highest]))]
  let more = gone.length > 0
  while (more) {
    const below = gone.at(-1)?.number ?? highest.number
    const blocks = await findFinalBlocks(context.db, { relayerIds, ...window, below, limit: PAGE })
    const found = await takeWhileGone(round, blocks)
    gone.push(...found)
    more = found.length === PAGE
  }
  return gone
}

/** Returns the blocks before the first one that is still in the chain or has no answer. */
async function takeWhileGone(
  round: WatchRound,
  blocks: readonly FinalBlock[],
): Promise<readonly FinalBlock[]> {
  const compared = await compareBlocks(round, blocks)
  const firstKept = compared.findIndex(({ fate }) => fate !== 'gone')
  return firstKept === -1 ? blocks : blocks.slice(0, firstKept)
}

/**
 * `gone`: the chain has another block in its place · `unknown`: no reliable reply, which is not a proof (I6).
 */
interface ComparedBlock extends FinalBlock {
  readonly fate: 'kept' | 'gone' | 'unknown'
}

async function compareBlocks(
  { chain: { blockFinality }, head }: WatchRound,
  blocks: readonly FinalBlock[],
): Promise<ComparedBlock[]> {
  return Promise.all(
    blocks.map(async (block): Promise<ComparedBlock> => {
      const answer = await blockFinality?.blockHash(block.number, { asOf: head.number })
      if (answer?.kind !== 'ok') return { ...block, fate: 'unknown' }
      return { ...block, fate: answer.value === block.hash ? 'kept' : 'gone' }
    }),
  )
}

async function markReorganized({ context }: WatchRound, lost: readonly Transaction[]): Promise<void> {
  const reorganizedAt = new Date(context.clock.now())
  const changed = lost.map((transaction) => ({
    ...transaction,
    statusReason: `Block ${transaction.block?.number} that included it is no longer in the chain, although it was final; the same bytes are broadcast again.`,
    block: undefined,
    reorganizedAt,
  }))
  // The outcome stays, as the status does: the same bytes are to be included again. What the lost block
  // charged does not count any more.
  const forgotten = lost.flatMap(({ id, currentAttempt }) =>
    currentAttempt === undefined ? [] : [{ transactionId: id, number: currentAttempt, result: null }],
  )
  await saveAndAnnounce(context, changed, forgotten)
}

async function saveAndAnnounce(
  { db, clock, log }: WatchRound['context'],
  changed: readonly Transaction[],
  outcomes: readonly AttemptNews[],
): Promise<void> {
  const saved = await transact(db, async (tx) => {
    const written = await saveTransactions(tx, changed)
    const ids = new Set(written.map(({ id }) => id))
    const ledger = await openLedger(tx, { now: new Date(clock.now()), transactionIds: [...ids] })
    ledger.reopen()
    await ledger.save()
    await saveOutcomes(
      tx,
      outcomes.filter(({ transactionId }) => ids.has(transactionId)),
    )
    await announceIncident(tx, 'transaction_reorganized', [...ids])
    return written
  })
  for (const { id, relayerId, statusReason } of saved)
    log.error(
      { transaction: id, relayer: relayerId, incident: 'transaction_reorganized', detail: statusReason },
      'transaction incident',
    )
}

/** Records the transactions that another block includes now, and broadcasts the bytes of the others again. */
async function restore(round: WatchRound, waiting: readonly Transaction[]): Promise<void> {
  const { context, chain, head } = round
  const attempts = await findAttempts(context.db, waiting)
  const items = waiting.map((transaction) => ({ transaction, attempts: attempts.get(transaction.id) ?? [] }))
  const hashes = items.flatMap((item) => hashesOfAll(chain, item.attempts))
  const answers = await chain.receipts(hashes, { asOf: head.number })
  const receipts = new Map(hashes.map((hash, index) => [hash, answers[index]]))
  const inclusions = await Promise.all(items.map((item) => inclusionOf(round, item, receipts)))
  const claims = items.flatMap((item, index) => claimOf(item, inclusions[index]) ?? [])
  const opinions = await askSecondOpinions(round, claims)
  const absent: TransactionWithAttempts[] = []
  for (const [index, item] of items.entries()) {
    const inclusion = inclusions[index]
    if (inclusion === undefined) absent.push(item)
    else if (opinions.get(item.transaction.id)?.kind === 'agreed')
      await recordNewInclusion(round, item, inclusion)
  }
  const bytes = absent.flatMap((item) => {
    const raw = currentAttempt(item)?.signed.raw
    return raw === undefined ? [] : [{ raw, route: routeOf(item.transaction), mayBeInPool: false }]
  })
  await broadcastByRoute(chain, bytes)
}

function claimOf(
  { transaction, attempts }: TransactionWithAttempts,
  inclusion: Inclusion | undefined,
): ReceiptClaim | undefined {
  if (inclusion === undefined) return undefined
  const { hash, blockHash, success } = inclusion.receipt
  const givesBack = movesNothing(attempts, { number: inclusion.attempt.number, isReverted: !success })
  return { transactionId: transaction.id, hash, blockHash, success, givesBack }
}

/** The chain decides (I4): if another attempt is included now, that attempt gives the final status. */
async function recordNewInclusion(
  round: WatchRound,
  item: TransactionWithAttempts,
  inclusion: Inclusion,
): Promise<void> {
  const { transaction, attempts } = item
  const { attempt, receipt, reason } = inclusion
  const again = included({ transaction: { ...transaction, status: 'submitted' }, attempts }, inclusion)
  const [timed = again] = await withBlockTimes(round, [again])
  const { transaction: mined, outcomes } = timed
  const result = receipt.success ? 'mined' : 'reverted'
  const status = nextStatus('mined', finalEvent(contentKind(attempts, attempt.number), result))
  const failure = reason === undefined ? '' : ` It was reverted: ${reason}.`
  const changed = {
    ...transaction,
    status,
    statusReason: `Its first block is no longer in the chain; attempt ${attempt.number} is in block ${receipt.blockNumber} now.${failure}`,
    currentAttempt: mined.currentAttempt,
    block: mined.block,
    reorganizedAt: undefined,
  }
  await saveAndAnnounce(round.context, [changed], outcomes)
}
