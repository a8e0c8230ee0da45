import { AppError } from '../../errors.ts'
import { refusalIn } from '../../spending/book.ts'
import { evaluateRequest } from '../budgets/evaluate-request.ts'
import { attemptsAtNonce } from '../model/open-attempts.ts'
import { accountOf, type TransactionsContext } from '../model/runtime.ts'
import {
  mustReplaceSigned,
  replacementRefusal,
  requireTransaction,
  unpreparedError,
} from '../replace/replace.ts'
import type { Replacing } from '../replace/replacement.ts'
import type { DryRun } from './dry-run.ts'
import { evaluatePrice } from './evaluate-price.ts'

/**
 * Tells what would happen if the transaction were replaced now. Whether a node would take the new bytes, only their broadcast tells.
 * @throws AppError `transaction_not_found`
 */
export async function dryReplace(context: TransactionsContext, replacing: Replacing): Promise<DryRun> {
  const { relayer, id, request, actor } = replacing
  const change = { ...replacing, action: 'replaceTransaction' } as const
  const { chain } = context.runtimeOf(relayer)
  const { unit } = chain
  const item = await requireTransaction(context, relayer, id)
  const problem = replacementRefusal(context, change, item)
  if (problem) return { refusal: problem, simulation: 'skipped', unit, results: [], logs: [] }
  const ofContent = evaluateRequest(context, relayer, { request, actor, hasIdempotencyKey: true })
  const account = accountOf(relayer)
  const prepared = mustReplaceSigned(context, change, item)
    ? await chain.replace(request, attemptsAtNonce(item), account)
    : await chain.prepare(request, account)
  const violated = refusalIn(ofContent)
  if (prepared.kind === 'refused' || prepared.kind === 'setup' || prepared.kind === 'unknown') {
    const refusal = violated ?? unpreparedError(prepared)
    const simulation = prepared.kind === 'unknown' ? 'unknown' : 'refused'
    return { refusal, simulation, unit, results: ofContent, logs: [] }
  }
  const draft = prepared.kind === 'ok' ? prepared.value.draft : undefined
  const later = prepared.kind === 'after_expiry' ? prepared.cost : undefined
  const cost = draft === undefined ? (later ?? chain.amountOut(request)) : chain.cost(draft)
  const evaluated = await evaluatePrice(context, { relayer, actor, request, draft, cost, replaces: id })
  const included =
    prepared.kind === 'ok' && prepared.value.included !== undefined
      ? new AppError('invalid_request', prepared.value.included)
      : undefined
  return {
    refusal: violated ?? included ?? evaluated.shortage ?? refusalIn(evaluated.results),
    simulation: 'succeeded',
    unit,
    price: evaluated.price,
    balance: evaluated.balance,
    reserved: evaluated.reserved,
    results: [...ofContent, ...evaluated.results],
    logs: prepared.kind === 'ok' ? prepared.value.logs : [prepared.detail],
  }
}
