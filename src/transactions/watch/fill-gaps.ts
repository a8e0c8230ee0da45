import { transact } from '../../database/locks/transact.ts'
import { sendsPrivately } from '../../relayers/policies/policy.ts'
import { lockForAdding } from '../../relayers/store.ts'
import { chargeOwn, isLimited } from '../budgets/charge.ts'
import { unprovenAttempts } from '../model/attempts.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { newTransactionId, type Transaction, type TransactionWithAttempts } from '../model/transaction.ts'
import { findUsedNonces } from '../store/nonce-store.ts'
import { insertTransactions } from '../store/transactions-store.ts'
import type { WatchRound } from './watch-round.ts'

/** More missing nonces than this in one account mean a wrong counter, not a gap, so a person must check. */
const MAX_GAP = 64n

interface GapSearch {
  /** Transactions of all accounts of the network that are signed and not mined, by nonce. */
  readonly unmined: readonly Transaction[]
  /** The next nonce on the chain, by source account. */
  readonly nonces: ReadonlyMap<string, bigint>
}

/**
 * Creates a no-op for every nonce that the chain waits for and that no transaction has, because no later
 * nonce can be included before it (I5). The no-ops appear in the list with a reason.
 */
export async function fillGaps(context: TransactionsContext, { unmined, nonces }: GapSearch): Promise<void> {
  const heads = new Map<string, Transaction>()
  for (const transaction of unmined)
    if (!heads.has(transaction.relayerId)) heads.set(transaction.relayerId, transaction)
  for (const head of heads.values()) {
    const next = nonces.get(head.sourceAccount ?? head.from)
    if (next !== undefined && head.nonce !== undefined && next < head.nonce) {
      await fillGap(context, { head, from: next, to: head.nonce })
    }
  }
}

interface Gap {
  /** The first transaction behind the gap. */
  readonly head: Transaction
  /** The first missing nonce, and the first that is not. */
  readonly from: bigint
  readonly to: bigint
}

async function fillGap(
  { db, clock, log, observer }: TransactionsContext,
  { head, from, to }: Gap,
): Promise<void> {
  const { relayerId } = head
  if (to - from > MAX_GAP) {
    log.error({ relayer: relayerId, from: String(from), to: String(to) }, 'nonce gap too wide to fill')
    return
  }
  const now = new Date(clock.now())
  const fillers = await transact(db, async (tx) => {
    // The transactions behind the gap may be final by now, and the relayer deleted.
    const relayer = await lockForAdding(tx, relayerId)
    if (relayer === undefined) return []
    const used = await findUsedNonces(tx, head, { from, to })
    const missing = Array.from({ length: Number(to - from) }, (_, index) => from + BigInt(index)).filter(
      (nonce) => !used.has(nonce),
    )
    const stored = missing.map((nonce) => ({
      ...gapFiller(head, nonce, now),
      isPrivate: sendsPrivately(relayer) || undefined,
      isBudgeted: isLimited({ relayer }) || undefined,
    }))
    await insertTransactions(tx, stored)
    await chargeOwn(tx, relayer, { transactions: stored, now })
    return stored
  })
  if (fillers.length > 0) observer?.created(fillers)
  for (const { id, nonce } of fillers) {
    log.warn({ relayer: relayerId, transaction: id, nonce: String(nonce) }, 'nonce gap filler queued')
  }
}

function gapFiller({ relayerId, network, from }: Transaction, nonce: bigint, now: Date): Transaction {
  return {
    id: newTransactionId(),
    relayerId,
    network,
    from,
    status: 'pending',
    statusReason: `Filler: fills the gap at nonce ${nonce}, which no transaction had.`,
    createdAt: now,
    request: { type: 'evm', value: 0n },
    purpose: 'gap_filler',
    sourceAccount: from,
    nonce,
    version: 1,
    cost: 0n,
    nextRunAt: now,
  }
}

/**
 * Returns the transactions whose nonce the chain has passed, and the next nonce of each source account. If an
 * answer is missing, the round stays open.
 */
export async function findPassedNonces(
  round: WatchRound,
  unmined: readonly Transaction[],
): Promise<{ passed: Transaction[]; nonces: Map<string, bigint> }> {
  const numbered = unmined.filter(({ nonce }) => nonce !== undefined)
  const sourceAccounts = [...new Set(numbered.map(sourceAccountOf))]
  const { sequencing } = round.chain
  if (sequencing === undefined || sourceAccounts.length === 0) return { passed: [], nonces: new Map() }
  const answers = await sequencing.nonces(sourceAccounts, { asOf: round.head.number })
  const nonces = new Map(
    sourceAccounts.flatMap((sourceAccount, index) => {
      const answer = answers[index]
      return answer?.kind === 'ok' ? [[sourceAccount, answer.value] as const] : []
    }),
  )
  if (nonces.size < sourceAccounts.length) round.open = true
  const passed = numbered.filter(
    (transaction) => (transaction.nonce ?? 0n) < (nonces.get(sourceAccountOf(transaction)) ?? 0n),
  )
  return { passed, nonces }
}

function sourceAccountOf({ sourceAccount, from }: Transaction): string {
  return sourceAccount ?? from
}

/**
 * Tests that a node may still hold an attempt, and that the chain has passed the expiry of every such
 * attempt.
 */
export async function haveAllExpired(
  { chain, head }: WatchRound,
  { attempts }: TransactionWithAttempts,
): Promise<boolean> {
  const { expiry } = chain
  if (expiry === undefined) return false
  const unproven = unprovenAttempts(attempts)
  const expired = await Promise.all(unproven.map(({ draft }) => expiry.hasExpired(draft, head)))
  return unproven.length > 0 && expired.every((one) => one)
}

/**
 * Maps the id of a mined transaction to `true` if its block was replaced, and to `false` if no node answered.
 * Other ids are absent.
 */
export async function findMovedBlocks(
  round: WatchRound,
  mined: readonly Transaction[],
): Promise<Map<string, boolean>> {
  const { blockFinality } = round.chain
  if (blockFinality === undefined) return new Map()
  const heights = [...new Set(mined.map((transaction) => transaction.block?.number ?? 0n))]
  const hashes = await Promise.all(
    heights.map((height) => blockFinality.blockHash(height, { asOf: round.head.number })),
  )
  if (hashes.some((answer) => answer.kind !== 'ok')) round.open = true
  const now = new Map(heights.map((height, index) => [height, hashes[index]]))
  const moved = new Map<string, boolean>()
  for (const { id, block } of mined) {
    const answer = now.get(block?.number ?? 0n)
    if (answer?.kind !== 'ok') moved.set(id, false)
    else if (answer.value !== block?.hash) moved.set(id, true)
  }
  return moved
}
