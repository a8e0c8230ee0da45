import type { Head, ReceiptAnswer } from '../../chains/answer.ts'
import { transact } from '../../database/locks/transact.ts'
import { slicesOf } from '../../lib/object.ts'
import { privateFallbackBlocksOf } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { hashesOfAll } from '../model/attempts.ts'
import { traceStep } from '../model/observer.ts'
import type { RelayerRuntime, TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts } from '../store/attempts-store.ts'
import { findDecisions } from '../store/decisions-store.ts'
import { findWatched, hasWatched } from '../store/due-store.ts'
import { saveTransactions, wakeRelayers } from '../store/transactions-store.ts'
import { fillGaps, findMovedBlocks, findPassedNonces, haveAllExpired } from './fill-gaps.ts'
import { finalise } from './finalise.ts'
import { isRecheckDue, recheckFinal } from './recheck-final.ts'
import { resolveExpired, resolveTransaction } from './resolve.ts'
import { reopened } from './undecided.ts'
import { isFinalBlock, type WatchMemory, type WatchRound } from './watch-round.ts'
import { writeResolutions } from './write-resolutions.ts'

/**
 * Runs one round of watching a network: it reads the state of all signed transactions that are not final, and
 * stores the results. The number of calls grows with blocks and accounts and not with transactions: receipts
 * are read only where the account's nonce has passed, and one block hash for each block that includes a
 * transaction.
 */
export async function watchNetwork(
  context: TransactionsContext,
  {
    runtime,
    relayers,
    memory,
  }: { runtime: RelayerRuntime; relayers: readonly Relayer[]; memory: WatchMemory },
): Promise<void> {
  const ids = relayers.map((relayer) => relayer.id)
  const byId = new Map(relayers.map((relayer) => [relayer.id, relayer]))
  const { chain, network } = runtime
  const recheck =
    chain.blockFinality !== undefined && (await isRecheckDue({ context, memory, relayers: byId }))
  if (!recheck && !(await hasWatched(context.db, ids))) return
  // The receipts of the new chain say nothing about transactions of the old one.
  if (await context.findChainReset(runtime)) return
  const head = await chain.head()
  const now = context.clock.monotonic()
  if (head.kind !== 'ok' || isBehind(head.value, memory, now)) return // A missing or old head decides nothing (I6).
  if (!recheck && head.value.hash === memory.settledAt) return
  memory.highest = { number: head.value.number, at: now }
  // Read after the head: every attempt in this block was stored before its broadcast (I3), so none is missing
  // here.
  const watched = await findWatched(context.db, ids)
  const round: WatchRound = {
    context,
    chain,
    head: head.value,
    confirmations: BigInt(network.requiredConfirmations),
    relayers: byId,
    memory,
    decisions: await findDecisions(
      context.db,
      watched.filter(({ undecidedSince }) => undecidedSince !== undefined),
    ),
    passed: new Set(),
    open: false,
  }
  const mined = watched.filter((transaction) => transaction.status === 'mined')
  const unmined = watched.filter((transaction) => transaction.status !== 'mined')
  // Before this round makes others final: what is final until now was written on the chain as the last check,
  // or the last process, saw it.
  if (recheck) await recheckFinal(round)
  await resolveUnmined(round, unmined)
  await makeOverduePublic(round, unmined)
  if (chain.blockFinality) await resolveMined(round, mined)
  else await resolveReceipts(round, await withAttempts(round, mined))
  const open = new Set(watched.map(({ id }) => id))
  for (const remembered of [memory.doubtSince, memory.disputed])
    for (const id of [...remembered.keys()]) if (!open.has(id)) remembered.delete(id)
  memory.settledAt = round.open ? undefined : head.value.hash
}

/**
 * Reads the receipts of transactions whose nonce the chain has passed, and of all transactions on chains
 * without nonces. Expired transactions without a receipt need a proof of absence.
 */
async function resolveUnmined(round: WatchRound, unmined: readonly Transaction[]): Promise<void> {
  const { context, chain } = round
  const { passed, nonces } = await findPassedNonces(round, unmined)
  round.passed = new Set(passed.map(({ id }) => id))
  const needsReceipt = ({ id, nonce }: Transaction) => nonce === undefined || round.passed.has(id)
  const items = await withAttempts(round, chain.expiry ? unmined : unmined.filter(needsReceipt))
  const written = await resolveReceipts(
    round,
    items.filter(({ transaction }) => needsReceipt(transaction)),
  )
  if (chain.expiry === undefined) {
    await reopenUndecided(round, { unmined, nonces })
    return fillGaps(context, {
      unmined: unmined.filter(({ undecidedSince }) => undecidedSince === undefined),
      nonces,
    })
  }
  await endExpired(
    round,
    items.filter(({ transaction: { id } }) => !round.passed.has(id) && !written.has(id)),
  )
}

/** Opens the undecided transactions again whose nonce the chain, as it is now, has not used. */
async function reopenUndecided(
  round: WatchRound,
  {
    unmined,
    nonces,
  }: { readonly unmined: readonly Transaction[]; readonly nonces: ReadonlyMap<string, bigint> },
): Promise<void> {
  const unused = unmined.filter(
    ({ id, undecidedSince, nonce, sourceAccount, from }) =>
      undecidedSince !== undefined &&
      nonce !== undefined &&
      nonces.has(sourceAccount ?? from) &&
      !round.passed.has(id),
  )
  const now = new Date(round.context.clock.now())
  const items = await withAttempts(round, unused)
  await writeResolutions(
    round,
    items.map((item) => reopened(item, now)),
  )
}

async function resolveMined(round: WatchRound, mined: readonly Transaction[]): Promise<void> {
  const moved = await findMovedBlocks(round, mined)
  await finaliseMined(
    round,
    mined.filter((transaction) => !moved.has(transaction.id)),
  )
  const gone = mined.filter((transaction) => moved.get(transaction.id) === true)
  await resolveReceipts(round, await withAttempts(round, gone))
}

/** Resolves the transactions whose attempts have all expired. */
async function endExpired(round: WatchRound, items: readonly TransactionWithAttempts[]): Promise<void> {
  const ended = await Promise.all(items.map((item) => haveAllExpired(round, item)))
  const over = items.filter((_, index) => ended[index])
  const resolved = await Promise.all(over.map((item) => resolveExpired(round, item)))
  await writeResolutions(
    round,
    resolved.filter((resolution) => resolution !== undefined),
  )
}

/**
 * Time in ms for which a lower head counts as a lagging replica. A chain that is still lower after that was
 * rolled back. Without this limit, the watcher would wait until the chain reaches the old height again.
 */
const LAG_MS = 60_000

function isBehind(head: Head, { highest }: WatchMemory, now: number): boolean {
  return head.number < highest.number && now < highest.at + LAG_MS
}

/** Finalises the transactions whose block is still in the chain and is final (I7). */
async function finaliseMined(round: WatchRound, mined: readonly Transaction[]): Promise<void> {
  const deep = mined.filter(({ block }) => block && isFinalBlock(round, block.number))
  for (const group of slicesOf(deep, GROUP_SIZE)) await finalise(round, await withAttempts(round, group))
}

/** Resolves the transactions from their receipts, and returns the ids of the written ones. */
async function resolveReceipts(
  round: WatchRound,
  items: readonly TransactionWithAttempts[],
): Promise<ReadonlySet<string>> {
  const hashes = hashesOfAll(
    round.chain,
    items.flatMap(({ attempts }) => attempts),
  )
  // Without nonces, receipts of all open transactions are read in each round, which is not a step of a
  // transaction.
  const asked = items.flatMap(({ transaction }) => (transaction.nonce === undefined ? [] : [transaction]))
  const answers = await traceStep(round.context, { name: 'watch', transactions: asked }, () =>
    round.chain.receipts(hashes, { asOf: round.head.number }),
  )
  const receipts: Receipts = new Map(hashes.map((hash, index) => [hash, answers[index]]))
  const written = new Set<string>()
  for (const group of slicesOf(items, GROUP_SIZE))
    for (const id of await resolveGroup(round, group, receipts)) written.add(id)
  return written
}

/** The answers about receipts, by hash. */
type Receipts = ReadonlyMap<string, ReceiptAnswer | undefined>

/** Returns the ids of the written transactions. */
async function resolveGroup(
  round: WatchRound,
  items: readonly TransactionWithAttempts[],
  receipts: Receipts,
): Promise<string[]> {
  const resolved = await Promise.all(items.map((item) => resolveTransaction(round, item, receipts)))
  const resolutions = resolved.filter((resolution) => resolution !== undefined)
  const written = await writeResolutions(round, resolutions)
  await resolveImmediately(round, items, { receipts, written })
  return written.map(({ id }) => id)
}

/**
 * Confirms transactions whose block is final at inclusion. The record goes through both statuses, so that
 * readers of events see each.
 */
async function resolveImmediately(
  round: WatchRound,
  items: readonly TransactionWithAttempts[],
  { receipts, written }: { receipts: Receipts; written: readonly Transaction[] },
): Promise<void> {
  const final = (hash: string) => {
    const answer = receipts.get(hash)
    return answer?.kind === 'included' && answer.receipt.final === true
  }
  const ids = new Set(
    items
      .filter(({ attempts }) => hashesOfAll(round.chain, attempts).some(final))
      .map(({ transaction }) => transaction.id),
  )
  const mined = written.filter(({ id, status }) => status === 'mined' && ids.has(id))
  await finalise(round, await withAttempts(round, mined))
}

async function withAttempts(
  { context }: WatchRound,
  transactions: readonly Transaction[],
): Promise<TransactionWithAttempts[]> {
  const items: TransactionWithAttempts[] = []
  for (const group of slicesOf(transactions, GROUP_SIZE)) {
    const attempts = await findAttempts(context.db, group)
    for (const transaction of group) items.push({ transaction, attempts: attempts.get(transaction.id) ?? [] })
  }
  return items
}

/**
 * Makes private transactions public that were not included within the policy's number of blocks after their
 * first private broadcast. The decision is stored before any ordinary endpoint gets the bytes. The policy is
 * read again, so that one that was just removed no longer applies. Without private endpoints nothing becomes
 * public: a lost configuration must not publish anything.
 */
async function makeOverduePublic(round: WatchRound, unmined: readonly Transaction[]): Promise<void> {
  const { context, chain, passed, head } = round
  if (chain.privateBroadcast === undefined) return
  const candidates = unmined.filter(({ id, isPrivate }) => isPrivate === true && !passed.has(id))
  const limits = await fallbackBlocksOf(context, candidates)
  const now = new Date(context.clock.now())
  const overdue = candidates.flatMap((transaction) => {
    const blocks = limits.get(transaction.relayerId)
    if (blocks === undefined || !isOverdue(transaction, { head: head.number, blocks })) return []
    return [madePublic(transaction, { blocks, now })]
  })
  if (overdue.length === 0) return
  const { db } = context
  const saved = await transact(db, async (tx) => {
    const written = await saveTransactions(tx, overdue)
    await wakeRelayers(tx, written)
    return written
  })
  if (saved.length < overdue.length) round.open = true
  for (const { id, relayerId, statusReason } of saved)
    context.log.warn({ transaction: id, relayer: relayerId, detail: statusReason }, 'transaction made public')
}

/** Returns whether a private transaction has had its blocks. Pure. */
export function isOverdue(
  { isPrivate, privateSinceBlock, madePublicAt }: Transaction,
  { head, blocks }: { readonly head: bigint; readonly blocks: number },
): boolean {
  if (isPrivate !== true || privateSinceBlock === undefined || madePublicAt !== undefined) return false
  return head >= privateSinceBlock + BigInt(blocks)
}

function madePublic(
  transaction: Transaction,
  { blocks, now }: { readonly blocks: number; readonly now: Date },
): Transaction {
  return {
    ...transaction,
    statusReason: `No block included it within ${blocks} block${blocks === 1 ? '' : 's'} of its first private broadcast (private_fallback_blocks), so the ordinary endpoints receive it as well.`,
    madePublicAt: now,
    nextRunAt: now,
  }
}

/** Maps the relayers that let private transactions become public to the number of blocks. */
async function fallbackBlocksOf(
  { relayerOf }: TransactionsContext,
  candidates: readonly Transaction[],
): Promise<ReadonlyMap<string, number>> {
  const open = candidates.filter(
    ({ privateSinceBlock, madePublicAt }) => privateSinceBlock !== undefined && madePublicAt === undefined,
  )
  const limits = new Map<string, number>()
  for (const id of new Set(open.map(({ relayerId }) => relayerId))) {
    const relayer = await relayerOf(id)
    const blocks = relayer && privateFallbackBlocksOf(relayer)
    if (blocks !== undefined) limits.set(id, blocks)
  }
  return limits
}

/**
 * The most transactions that one statement or one loop of the watcher handles. A block may hold thousands,
 * and requests would wait for the one session of the embedded database, and for this thread, until all of
 * them are done. Smaller groups cost more commits.
 */
const GROUP_SIZE = 200
