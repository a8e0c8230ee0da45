import type { TransactionWithAttempts } from '../model/transaction.ts'
import { finalised, included, type Resolution } from './resolution.ts'
import { describeInclusion } from './resolve.ts'
import { askSecondOpinions, includedHash, type ReceiptClaim, type SecondOpinion } from './second-opinion.ts'
import type { WatchRound } from './watch-round.ts'
import { writeResolutions } from './write-resolutions.ts'

/** Gives transactions whose block is final their final status, unless the endpoints contradict each other about the result. */
export async function finalise(round: WatchRound, items: readonly TransactionWithAttempts[]): Promise<void> {
  const claims = items.flatMap((item) => claimOf(item) ?? [])
  const opinions = await askSecondOpinions(round, claims)
  const resolutions = await Promise.all(
    items.map((item) => resolveFinal(round, item, opinions.get(item.transaction.id) ?? { kind: 'agreed' })),
  )
  await writeResolutions(
    round,
    resolutions.filter((resolution) => resolution !== undefined),
  )
}

/** Without a recorded attempt or block there is nothing that another endpoint could contradict. */
function claimOf({ transaction, attempts }: TransactionWithAttempts): ReceiptClaim | undefined {
  const attempt = attempts.find(({ number }) => number === transaction.currentAttempt)
  if (attempt === undefined || transaction.block === undefined) return undefined
  return {
    transactionId: transaction.id,
    hash: includedHash(attempt),
    blockHash: transaction.block.hash,
    success: attempt.outcome !== 'reverted',
  }
}

async function resolveFinal(
  round: WatchRound,
  item: TransactionWithAttempts,
  opinion: SecondOpinion,
): Promise<Resolution | undefined> {
  const { transaction, attempts } = item
  if (opinion.kind === 'agreed') {
    round.memory.tied.delete(transaction.id)
    return finalised(item, new Date(round.context.clock.now()))
  }
  round.open = true
  if (opinion.kind === 'tied') warnOfTie(round, item)
  const attempt = attempts.find(({ number }) => number === transaction.currentAttempt)
  if (opinion.kind !== 'contradicted' || attempt === undefined) return undefined
  const { receipt } = opinion
  // The next round asks again, and finalises what the endpoints then say.
  return included(item, await describeInclusion(round, transaction, { attempt, receipt }))
}

function warnOfTie({ context: { log }, memory }: WatchRound, { transaction }: TransactionWithAttempts): void {
  const { id, relayerId, block } = transaction
  if (memory.tied.has(id)) return
  memory.tied.add(id)
  log.warn(
    { transaction: id, relayer: relayerId, block: String(block?.number) },
    'the endpoints contradict each other about the result of a transaction; it stays mined until most of them agree: compare their receipts, and remove the endpoint that is wrong',
  )
}
