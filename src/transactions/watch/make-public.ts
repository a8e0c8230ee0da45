import type { TransactionsContext } from '../model/runtime.ts'
import type { Transaction } from '../model/transaction.ts'
import { saveTransactions, wakeRelayers } from '../store/transactions-store.ts'
import type { WatchRound } from './watch-round.ts'

/**
 * Makes private transactions public that no block has included so many blocks after their first private broadcast as the policy of their
 * relayer says. The decision is stored before any ordinary endpoint gets the bytes. The policy is read anew, so that one that was
 * withdrawn a moment ago counts no more. Without private endpoints nothing becomes public: a lost configuration must not publish anything.
 */
export async function makeOverduePublic(round: WatchRound, unmined: readonly Transaction[]): Promise<void> {
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
  const { db, reservations } = context
  const saved = await db.transaction().execute(async (tx) => {
    const written = await saveTransactions({ tx, reservations }, overdue)
    await wakeRelayers(tx, written)
    return written
  })
  if (saved.length < overdue.length) round.open = true
  for (const { id, relayerId, statusReason } of saved)
    context.log.warn({ transaction: id, relayer: relayerId, detail: statusReason }, 'transaction made public')
}

/** Tells whether a private transaction has had its blocks. Pure. */
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
    statusReason: `No block included it within ${blocks} block${blocks === 1 ? '' : 's'} of its first private broadcast (private_fallback_blocks), so the ordinary endpoints get it as well.`,
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
    if (relayer?.networkType !== 'evm') continue
    const { privateFallbackBlocks } = relayer.policies
    if (privateFallbackBlocks !== undefined) limits.set(id, privateFallbackBlocks)
  }
  return limits
}
