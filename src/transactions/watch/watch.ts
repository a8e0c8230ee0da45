import type { Transaction as DbTransaction } from 'kysely'
import type { Head, ReceiptAnswer } from '../../chains/answer.ts'
import type { Schema } from '../../database/schema.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { hashesOfAll } from '../model/attempt-hashes.ts'
import { tellFinished } from '../model/observer.ts'
import { unprovenAttempts } from '../model/open-attempts.ts'
import type { RelayerRuntime, TransactionsContext } from '../model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import { findAttempts, saveOutcomes } from '../store/attempts-store.ts'
import { findDecisions } from '../store/decisions-store.ts'
import { announceIncident, saveTransactions } from '../store/transactions-store.ts'
import { findWatched, hasWatched, setNextNonce } from '../store/work-store.ts'
import { fillGaps } from './fill-gaps.ts'
import { finalised, type Resolution } from './outcome.ts'
import { isRecheckDue, recheckFinal } from './recheck-final.ts'
import { isFinalBlock, resolveExpired, resolveTransaction, type Watch } from './resolve.ts'
import type { WatchMemory } from './watch-memory.ts'

type Tx = DbTransaction<Schema>

/**
 * Asks the chain what became of everything signed and not final on one network, and writes it down. The number of
 * calls grows with blocks and accounts: receipts are asked only where the account's nonce has passed, block hashes once
 * per block that holds something of ours.
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
  const head = await chain.head()
  const now = context.clock.now()
  if (head.kind !== 'ok' || isBehind(head.value, memory, now)) return // It decides nothing (I6).
  if (!recheck && head.value.hash === memory.settledAt) return
  memory.highest = { number: head.value.number, at: now }
  // Read after the head: what this block holds was stored before it was broadcast, so nothing of it is missing here.
  const watched = await findWatched(context.db, ids)
  const watch: Watch = {
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
  await settleUnmined(watch, unmined)
  if (chain.blockFinality) await settleMined(watch, mined)
  else await settleReceipts(watch, await withAttempts(watch, mined))
  if (recheck) await recheckFinal(watch)
  memory.settledAt = watch.open ? undefined : head.value.hash
}

/**
 * Receipts are asked where the chain has left the nonce behind; where there are no nonces, of everything. What has lapsed
 * without any is proved to be out.
 */
async function settleUnmined(watch: Watch, unmined: readonly Transaction[]): Promise<void> {
  const { context, chain } = watch
  const { passed, nonces } = await whoseNoncePassed(watch, unmined)
  watch.passed = new Set(passed.map(({ id }) => id))
  const isAsked = ({ id, nonce }: Transaction) => nonce === undefined || watch.passed.has(id)
  const items = await withAttempts(watch, chain.expiry ? unmined : unmined.filter(isAsked))
  const written = await settleReceipts(
    watch,
    items.filter(({ transaction }) => isAsked(transaction)),
  )
  if (chain.expiry === undefined) return fillGaps(context, { unmined, nonces })
  await settleExpired(
    watch,
    items.filter(({ transaction: { id } }) => !watch.passed.has(id) && !written.has(id)),
  )
}

async function settleMined(watch: Watch, mined: readonly Transaction[]): Promise<void> {
  const moved = await whoseBlockMoved(watch, mined)
  await settleFinal(
    watch,
    mined.filter((transaction) => !moved.has(transaction.id)),
  )
  const gone = mined.filter((transaction) => moved.get(transaction.id) === true)
  await settleReceipts(watch, await withAttempts(watch, gone))
}

/** Those of which no attempt can be included any more, because the chain has come past their end. */
async function settleExpired(watch: Watch, items: readonly TransactionWithAttempts[]): Promise<void> {
  const ended = await Promise.all(items.map((item) => areOver(watch, item)))
  const over = items.filter((_, index) => ended[index])
  const resolved = await Promise.all(over.map((item) => resolveExpired(watch, item)))
  await write(
    watch,
    resolved.filter((resolution) => resolution !== undefined),
  )
}

/**
 * How long a lower head is taken for a replica that lags, in ms. A chain that is still lower after that was rolled back;
 * without an end to the doubt, the watcher would stand still until the old height is reached again.
 */
const LAG_MS = 60_000

function isBehind(head: Head, { highest }: WatchMemory, now: number): boolean {
  return head.number < highest.number && now < highest.at + LAG_MS
}

async function whoseNoncePassed(
  watch: Watch,
  unmined: readonly Transaction[],
): Promise<{ passed: Transaction[]; nonces: Map<string, bigint> }> {
  const numbered = unmined.filter(({ nonce }) => nonce !== undefined)
  const sourceAccounts = [...new Set(numbered.map(sourceAccountOf))]
  const { sequencing } = watch.chain
  if (sequencing === undefined || sourceAccounts.length === 0) return { passed: [], nonces: new Map() }
  const answers = await sequencing.nonces(sourceAccounts, { asOf: watch.head.number })
  const nonces = new Map(
    sourceAccounts.flatMap((sourceAccount, index) => {
      const answer = answers[index]
      return answer?.kind === 'ok' ? [[sourceAccount, answer.value] as const] : []
    }),
  )
  if (nonces.size < sourceAccounts.length) watch.open = true
  const passed = numbered.filter(
    (transaction) => (transaction.nonce ?? 0n) < (nonces.get(sourceAccountOf(transaction)) ?? 0n),
  )
  return { passed, nonces }
}

function sourceAccountOf({ sourceAccount, from }: Transaction): string {
  return sourceAccount ?? from
}

/** Whether there is something that a node may still hold, and the chain has come past the end of all of it. */
async function areOver({ chain, head }: Watch, { attempts }: TransactionWithAttempts): Promise<boolean> {
  const { expiry } = chain
  if (expiry === undefined) return false
  const unproven = unprovenAttempts(attempts)
  const expired = await Promise.all(unproven.map(({ draft }) => expiry.hasExpired(draft, head)))
  return unproven.length > 0 && expired.every((one) => one)
}

/** Mined transactions whose block is another one now (`true`) or could not be asked for (`false`). */
async function whoseBlockMoved(watch: Watch, mined: readonly Transaction[]): Promise<Map<string, boolean>> {
  const { blockFinality } = watch.chain
  if (blockFinality === undefined) return new Map()
  const heights = [...new Set(mined.map((transaction) => transaction.block?.number ?? 0n))]
  const hashes = await Promise.all(
    heights.map((height) => blockFinality.blockHash(height, { asOf: watch.head.number })),
  )
  if (hashes.some((answer) => answer.kind !== 'ok')) watch.open = true
  const now = new Map(heights.map((height, index) => [height, hashes[index]]))
  const moved = new Map<string, boolean>()
  for (const { id, block } of mined) {
    const answer = now.get(block?.number ?? 0n)
    if (answer?.kind !== 'ok') moved.set(id, false)
    else if (answer.value !== block?.hash) moved.set(id, true)
  }
  return moved
}

/** Their block is still in the chain; deep enough, they are final (I7). */
async function settleFinal(watch: Watch, mined: readonly Transaction[]): Promise<void> {
  const deep = mined.filter(({ block }) => block && isFinalBlock(watch, block.number))
  const items = await withAttempts(watch, deep)
  await write(
    watch,
    items.map((item) => finalised(item, new Date(watch.context.clock.now()))),
  )
}

/** Returns the ids of those that were written. */
async function settleReceipts(
  watch: Watch,
  items: readonly TransactionWithAttempts[],
): Promise<ReadonlySet<string>> {
  const hashes = hashesOfAll(
    watch.chain,
    items.flatMap(({ attempts }) => attempts),
  )
  const answers = await watch.chain.receipts(hashes, { asOf: watch.head.number })
  const receipts = new Map(hashes.map((hash, index) => [hash, answers[index]]))
  const resolved = await Promise.all(items.map((item) => resolveTransaction(watch, item, receipts)))
  const resolutions = resolved.filter((resolution) => resolution !== undefined)
  const written = await write(watch, resolutions)
  await settleAtOnce(watch, items, { receipts, written })
  return new Set(written.map(({ id }) => id))
}

/** Included and final in one: the record goes through both states, so that everybody who follows it sees each. */
async function settleAtOnce(
  watch: Watch,
  items: readonly TransactionWithAttempts[],
  {
    receipts,
    written,
  }: { receipts: ReadonlyMap<string, ReceiptAnswer | undefined>; written: readonly Transaction[] },
): Promise<void> {
  const final = (hash: string) => {
    const answer = receipts.get(hash)
    return answer?.kind === 'included' && answer.receipt.final === true
  }
  const ids = new Set(
    items
      .filter(({ attempts }) => hashesOfAll(watch.chain, attempts).some(final))
      .map(({ transaction }) => transaction.id),
  )
  const mined = written.filter(({ id, status }) => status === 'mined' && ids.has(id))
  const now = new Date(watch.context.clock.now())
  await write(
    watch,
    (await withAttempts(watch, mined)).map((item) => finalised(item, now)),
  )
}

async function withAttempts(
  { context }: Watch,
  transactions: readonly Transaction[],
): Promise<TransactionWithAttempts[]> {
  const attempts = await findAttempts(context.db, transactions)
  return transactions.map((transaction) => ({ transaction, attempts: attempts.get(transaction.id) ?? [] }))
}

/** Returns what was written; where somebody else was faster, the same block is looked at again. */
async function write(watch: Watch, resolutions: readonly Resolution[]): Promise<Transaction[]> {
  if (resolutions.length === 0) return []
  const written = await watch.context.db
    .transaction()
    .execute((tx) => writeResolutions(watch, tx, resolutions))
  tellFinished(watch.context, written)
  logIncidents(watch.context, resolutions, written)
  return written
}

function logIncidents(
  { log }: TransactionsContext,
  resolutions: readonly Resolution[],
  written: readonly Transaction[],
): void {
  const ids = new Set(written.map(({ id }) => id))
  for (const { incident, transaction } of resolutions) {
    if (incident === undefined || !ids.has(transaction.id)) continue
    const { id, relayerId, statusReason } = transaction
    log.error({ transaction: id, relayer: relayerId, incident, detail: statusReason }, 'transaction incident')
  }
}

async function writeResolutions(
  watch: Watch,
  tx: Tx,
  resolutions: readonly Resolution[],
): Promise<Transaction[]> {
  const saved = await saveTransactions(
    tx,
    resolutions.map((resolution) => resolution.transaction),
  )
  const written = new Set(saved.map((transaction) => transaction.id))
  if (written.size < resolutions.length) watch.open = true
  // Not before: a verdict that came too late is judged again at once, and not after the whole wait.
  for (const id of written) watch.memory.missingSince.delete(id)
  const kept = resolutions.filter((resolution) => written.has(resolution.transaction.id))
  await saveOutcomes(
    tx,
    kept.flatMap((resolution) => resolution.outcomes),
  )
  await forgetFreed(tx, kept)
  for (const [type, incidents] of Map.groupBy(kept, ({ incident }) => incident)) {
    if (type === undefined) continue
    await announceIncident(
      tx,
      type,
      incidents.map(({ transaction }) => transaction.id),
    )
  }
  return saved
}

/** A nonce that the chain did not use is free again, and the chain is asked for it before the next one is given. */
async function forgetFreed(tx: Tx, resolutions: readonly Resolution[]): Promise<void> {
  for (const { freed } of resolutions) if (freed) await setNextNonce(tx, { ...freed, nonce: null })
}
