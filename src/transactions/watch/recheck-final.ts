import { currentAttempt } from '../broadcast/broadcast.ts'
import { hashesOfAll } from '../model/attempt-hashes.ts'
import { contentKind } from '../model/purpose.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import { findAttempts, type OutcomeChange, saveOutcomes } from '../store/attempts-store.ts'
import {
  type FinalBlock,
  findFinalBlocks,
  findFinalInBlocks,
  findHighestFinalBlock,
  findReorganized,
  hasRecentlyFinal,
} from '../store/final-blocks-store.ts'
import { announceIncident, saveTransactions } from '../store/transactions-store.ts'
import { finalEvent, type Inclusion, included } from './outcome.ts'
import { inclusionOf, type Watch } from './resolve.ts'
import type { WatchMemory } from './watch-memory.ts'

/**
 * How often the blocks of final transactions are looked at again, in ms. A reorganisation below the network's finality is rare; the
 * question costs one block hash.
 */
const RECHECK_MS = 30_000

/** How long a final transaction's block is looked at, in ms: a rollup can lose hours of blocks when its sequencer fails. */
const RECHECK_WINDOW_MS = 86_400_000

/** Blocks asked for at once while the last common block is searched. */
const PAGE = 50

/** Whether it is time to look at the blocks of final transactions, and there are any. */
export async function isRecheckDue({
  context,
  memory,
  relayers,
}: Pick<Watch, 'context' | 'relayers'> & { readonly memory: WatchMemory }): Promise<boolean> {
  const now = context.clock.now()
  if (now < memory.recheckAt) return false
  memory.recheckAt = now + RECHECK_MS
  return hasRecentlyFinal(context.db, [...relayers.keys()], windowStart(now))
}

/**
 * Looks whether the blocks of transactions that count as final are still in the chain. As each block names its parent, the highest one
 * answers for all. Where it is gone, the records say so, an event is announced, and the same bytes are broadcast again until a block
 * includes one of the attempts.
 */
export async function recheckFinal(watch: Watch): Promise<void> {
  const { context, relayers } = watch
  const relayerIds = [...relayers.keys()]
  const since = windowStart(context.clock.now())
  const gone = await findGone(watch, since)
  const hashes = gone.map(({ hash }) => hash)
  const lost = await findFinalInBlocks(context.db, { relayerIds, since, hashes })
  if (lost.length > 0) await markReorganized(watch, lost)
  const waiting = await findReorganized(context.db, relayerIds)
  if (waiting.length > 0) await restore(watch, waiting)
}

function windowStart(now: number): Date {
  return new Date(now - RECHECK_WINDOW_MS)
}

/** The blocks, from the highest down, that the chain no longer has. A block that could not be asked for ends the search. */
async function findGone(watch: Watch, since: Date): Promise<FinalBlock[]> {
  const { context, relayers } = watch
  const relayerIds = [...relayers.keys()]
  const highest = await findHighestFinalBlock(context.db, { relayerIds, since })
  if (highest === undefined) return []
  const gone = [...(await whichAreGone(watch, [highest]))]
  let more = gone.length > 0
  while (more) {
    const below = gone.at(-1)?.number ?? highest.number
    const blocks = await findFinalBlocks(context.db, { relayerIds, since, below, limit: PAGE })
    const found = await whichAreGone(watch, blocks)
    gone.push(...found)
    more = found.length === PAGE
  }
  return gone
}

/** Those before the first one that is still in the chain, or of which nobody could tell. */
async function whichAreGone(
  { chain: { blockFinality }, head }: Watch,
  blocks: readonly FinalBlock[],
): Promise<readonly FinalBlock[]> {
  if (blockFinality === undefined) return []
  const answers = await Promise.all(
    blocks.map(({ number }) => blockFinality.blockHash(number, { asOf: head.number })),
  )
  const firstKept = blocks.findIndex(({ hash }, index) => {
    const answer = answers[index]
    return answer?.kind !== 'ok' || answer.value === hash
  })
  return firstKept === -1 ? blocks : blocks.slice(0, firstKept)
}

async function markReorganized({ context }: Watch, lost: readonly Transaction[]): Promise<void> {
  const reorganizedAt = new Date(context.clock.now())
  const changed = lost.map((transaction) => ({
    ...transaction,
    statusReason: `Block ${transaction.block?.number} that included it is no longer in the chain, although it counted as final; the same bytes are broadcast again.`,
    block: undefined,
    reorganizedAt,
  }))
  await saveAndAnnounce(context, changed)
}

async function saveAndAnnounce(
  { db, log }: Watch['context'],
  changed: readonly Transaction[],
  outcomes: readonly OutcomeChange[] = [],
): Promise<void> {
  const saved = await db.transaction().execute(async (tx) => {
    const written = await saveTransactions(tx, changed)
    const ids = new Set(written.map(({ id }) => id))
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

/** What another block includes by now is told; the bytes of the rest are offered to the nodes again. */
async function restore(watch: Watch, waiting: readonly Transaction[]): Promise<void> {
  const { context, chain, head } = watch
  const attempts = await findAttempts(context.db, waiting)
  const items = waiting.map((transaction) => ({ transaction, attempts: attempts.get(transaction.id) ?? [] }))
  const hashes = items.flatMap((item) => hashesOfAll(chain, item.attempts))
  const answers = await chain.receipts(hashes, { asOf: head.number })
  const receipts = new Map(hashes.map((hash, index) => [hash, answers[index]]))
  const absent: TransactionWithAttempts[] = []
  for (const item of items) {
    const inclusion = await inclusionOf(watch, item, receipts)
    if (inclusion !== undefined) await tellIncludedAgain(watch, item, inclusion)
    else absent.push(item)
  }
  const raws = absent.flatMap((item) => currentAttempt(item)?.signed.raw ?? [])
  if (raws.length > 0) await chain.broadcast(raws)
}

/** The chain decides: where another attempt is included now, the record ends as that one asks. */
async function tellIncludedAgain(
  { context }: Watch,
  item: TransactionWithAttempts,
  inclusion: Inclusion,
): Promise<void> {
  const { transaction, attempts } = item
  const { attempt, receipt, reason } = inclusion
  const { outcomes } = included({ transaction: { ...transaction, status: 'submitted' }, attempts }, inclusion)
  const result = receipt.success ? 'mined' : 'reverted'
  const status = nextStatus('mined', finalEvent(contentKind(attempts, attempt.number), result))
  const failure = reason === undefined ? '' : ` It was reverted: ${reason}.`
  const changed = {
    ...transaction,
    status,
    statusReason: `Its first block is no longer in the chain; attempt ${attempt.number} is in block ${receipt.blockNumber} now.${failure}`,
    currentAttempt: attempt.number,
    block: { number: receipt.blockNumber, hash: receipt.blockHash },
    reorganizedAt: undefined,
  }
  await saveAndAnnounce(context, [changed], outcomes)
}
