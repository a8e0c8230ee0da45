import type { RuleResult } from '../../spending/evaluate-content.ts'
import { evaluateApprovals, refuseWaiting } from '../approvals/evaluate-approvals.ts'
import { evaluateRequest } from '../budgets/evaluate-request.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import type { Replacing } from './replacement.ts'

/** Asks the rules about new content for a transaction. An approval would come too late for it, because the earlier content may be included. */
export async function evaluateReplacement(
  context: TransactionsContext,
  { relayer, request, actor }: Omit<Replacing, 'id'>,
): Promise<RuleResult[]> {
  const { chain } = context.runtimeOf(relayer)
  const effects = () => chain.effects(request, relayer.address)
  const [waiting = []] = await evaluateApprovals(context.db, relayer, [{ actor, effects }])
  return [
    ...evaluateRequest(context, relayer, { request, actor, hasIdempotencyKey: true }),
    ...refuseWaiting(waiting, 'A replacement cannot wait: cancel the transaction, and send the new content.'),
  ]
}
