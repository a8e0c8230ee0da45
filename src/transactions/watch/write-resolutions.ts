import type { Tx } from '../../database/db.ts'
import { transact } from '../../database/locks/transact.ts'
import { withTimeout } from '../../lib/time.ts'
import { closeHoldings } from '../../spending/spending-store.ts'
import { reopenApprovals } from '../approvals/approvals-store.ts'
import { awaitAgain, findApprovalsToRepeat } from '../approvals/await-approval.ts'
import { reportFinished, traceStep } from '../model/observer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { saveOutcomes } from '../store/attempts-store.ts'
import { lockAccount, setNextNonce } from '../store/nonce-store.ts'
import { announceIncident, saveTransactions } from '../store/transactions-store.ts'
import type { Resolution } from './resolution.ts'
import type { WatchRound } from './watch-round.ts'

/**
 * Writes resolutions with their incidents and nonce counters, and returns the written transactions. If
 * another process changed a record first, the round stays open, so that the next round looks at the same
 * block again.
 */
export async function writeResolutions(
  round: WatchRound,
  resolutions: readonly Resolution[],
): Promise<Transaction[]> {
  if (resolutions.length === 0) return []
  const step = { name: 'settle', transactions: resolutions.map(({ transaction }) => transaction) } as const
  const timed = await withBlockTimes(round, resolutions)
  const written = await traceStep(round.context, step, () =>
    transact(round.context.db, (tx) => writeInTransaction(round, tx, timed)),
  )
  reportFinished(round.context, written)
  logIncidents(round.context, resolutions, written)
  return written
}

/**
 * The time in ms that an inclusion waits for the time of its block. A record that says `mined` matters more:
 * without an answer it lacks the time, until the transaction is final.
 */
const BLOCK_TIME_MS = 1_000

/**
 * Adds the times of their blocks to transactions, where receipts do not tell them. It costs at most one call
 * for each block: the watcher has read most of them as the newest block, or to check their hash.
 */
export async function withBlockTimes(
  { chain, context: { clock } }: Pick<WatchRound, 'chain' | 'context'>,
  resolutions: readonly Resolution[],
): Promise<readonly Resolution[]> {
  const untimed = resolutions.flatMap(({ transaction: { block } }) =>
    block === undefined || block.time !== undefined ? [] : [block.hash],
  )
  if (chain.blockTimes === undefined || untimed.length === 0) return resolutions
  const times = await withTimeout(clock, BLOCK_TIME_MS, chain.blockTimes([...new Set(untimed)]))
  return resolutions.map((resolution) => {
    const { block } = resolution.transaction
    const time = block && (block.time ?? times?.get(block.hash))
    if (block === undefined || time === undefined) return resolution
    return { ...resolution, transaction: { ...resolution.transaction, block: { ...block, time } } }
  })
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

async function writeInTransaction(
  round: WatchRound,
  tx: Tx,
  resolutions: readonly Resolution[],
): Promise<Transaction[]> {
  const successors = resolutions.flatMap(({ transaction, isSuccessor }) => (isSuccessor ? transaction : []))
  const now = new Date(round.context.clock.now())
  for (const relayerId of new Set(resolutions.flatMap(({ freed }) => freed?.relayerId ?? [])))
    await lockAccount(tx, relayerId)
  const reopened = await findApprovalsToRepeat(tx, { chain: round.chain, now }, successors)
  const saved = await saveTransactions(
    tx,
    resolutions.map(({ transaction }) => awaitAgain(transaction, reopened.get(transaction.id))),
    { keepsRequest: true },
  )
  const written = new Set(saved.map((transaction) => transaction.id))
  if (written.size < resolutions.length) round.open = true
  // Only after a successful write: a resolution that came too late is computed again immediately, not after
  // the whole wait.
  for (const id of written) round.memory.missingSince.delete(id)
  const kept = resolutions.filter((resolution) => written.has(resolution.transaction.id))
  await saveOutcomes(
    tx,
    kept.flatMap((resolution) => resolution.outcomes),
  )
  await resetFreedCounters(tx, kept)
  const repeated = successors.filter(({ id }) => written.has(id)).map(({ id }) => id)
  await reopenApprovals(
    tx,
    [...reopened.values()].filter(({ transactionId }) => written.has(transactionId)),
  )
  await closeHoldings(tx, repeated)
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

/**
 * The chain did not use these nonces. Without a counter, the service reads the next nonce from the chain
 * before it assigns one.
 */
async function resetFreedCounters(tx: Tx, resolutions: readonly Resolution[]): Promise<void> {
  for (const { freed } of resolutions) if (freed) await setNextNonce(tx, { ...freed, nonce: null })
}
