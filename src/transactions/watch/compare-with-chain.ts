import { unprovenAttempts } from '../model/attempts.ts'
import type { Transaction, TransactionWithAttempts } from '../model/transaction.ts'
import type { WatchRound } from './watch-round.ts'

/**
 * Returns the transactions whose nonce the chain has passed, and the next nonce of each source account. If an answer is missing, the round
 * stays open.
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

/** Tests that a node may still hold an attempt, and that the chain has passed the expiry of every such attempt. */
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

/** Maps the id of a mined transaction to `true` if its block was replaced, and to `false` if no node answered. Other ids are absent. */
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
