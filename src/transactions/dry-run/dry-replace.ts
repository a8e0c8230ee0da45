import { AppError } from '../../errors.ts'
import { refusalIn } from '../../spending/book.ts'
import { prepareContent } from '../accept/prepare-content.ts'
import { withEncodedArgs } from '../accept/with-encoded-args.ts'
import { attemptsAtNonce } from '../model/attempts.ts'
import { accountOf, type TransactionsContext } from '../model/runtime.ts'
import { evaluateReplacement } from '../replace/evaluate-replacement.ts'
import { mustReplaceSigned, unpreparedError } from '../replace/replace.ts'
import type { Replacing } from '../replace/replacement.ts'
import { replacementRefusal } from '../replace/replacement-refusal.ts'
import { requireTransaction } from '../store/require-transaction.ts'
import type { DryRun } from './dry-run.ts'
import { evaluatePrice, pricedRun } from './evaluate-price.ts'

/**
 * Tells what would happen if the transaction were replaced now. Whether a node would take the new bytes, only their broadcast tells.
 * @throws AppError `transaction_not_found`
 */
export async function dryReplace(context: TransactionsContext, replacing: Replacing): Promise<DryRun> {
  const { relayer, id, actor } = replacing
  const { chain } = context.runtimeOf(relayer)
  const request = await withEncodedArgs(chain, replacing.request)
  const change = { ...replacing, request, action: 'replaceTransaction' } as const
  const { unit } = chain
  const item = await requireTransaction(context.db, relayer, id)
  const problem = replacementRefusal(context, change, item)
  if (problem) return { refusal: problem, simulation: 'skipped', unit, results: [], logs: [] }
  const ofContent = await evaluateReplacement(context, { relayer, request, actor })
  const account = accountOf(relayer)
  const prepared = mustReplaceSigned(context, change, item)
    ? await chain.replace(request, attemptsAtNonce(item), account)
    : await prepareContent({ relayer, request, chain, now: context.clock.now() })
  const violated = refusalIn(ofContent)
  if (prepared.kind === 'refused' || prepared.kind === 'setup' || prepared.kind === 'unknown') {
    const refusal = violated ?? unpreparedError(prepared)
    const simulation = prepared.kind === 'unknown' ? 'unknown' : 'refused'
    return { refusal, simulation, unit, results: ofContent, logs: [] }
  }
  const draft = prepared.kind === 'ok' ? prepared.value.draft : undefined
  const later = prepared.kind === 'after_expiry' ? prepared.cost : undefined
  const cost = draft === undefined ? (later ?? chain.amountOut(request)) : chain.cost(draft)
  const awaitsPrice = prepared.kind === 'ok' && prepared.value.awaitsPrice !== undefined
  const evaluated = await evaluatePrice(context, {
    relayer,
    actor,
    request,
    draft,
    cost,
    awaitsPrice,
    replaces: id,
  })
  const included =
    prepared.kind === 'ok' && prepared.value.included !== undefined
      ? new AppError('invalid_request', prepared.value.included)
      : undefined
  return {
    ...pricedRun({ refusal: violated ?? included, unit, ofContent, evaluated }),
    simulation: 'succeeded',
    logs: prepared.kind === 'ok' ? prepared.value.logs : [prepared.detail],
  }
}
