import type { Actor } from '../../access/actor.ts'
import type { ExternalNonce } from '../../chains/capabilities.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { AppError } from '../../errors.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { refusalIn } from '../../spending/book.ts'
import { checkRequest } from '../accept/accept.ts'
import { externalNonceProblem, usedExternalNonces } from '../accept/external-nonces.ts'
import { type IdempotencyKey, keyReuseError } from '../accept/idempotency.ts'
import { prepareContent } from '../accept/prepare-content.ts'
import { withEncodedArgs } from '../accept/with-encoded-args.ts'
import { evaluateApprovals } from '../approvals/evaluate-approvals.ts'
import { evaluateRequest, type RuledRequest } from '../budgets/evaluate-request.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { findKey, type KeyRecord } from '../store/idempotency-store.ts'
import type { DryRun } from './dry-run.ts'
import { evaluatePrice, pricedRun } from './evaluate-price.ts'

/** A request to send, and its sender. */
export interface Sending {
  readonly request: ChainRequest
  readonly actor: Actor
  readonly idempotencyKey: IdempotencyKey | undefined
}

/** Tells what would happen if the request were sent now. It asks what the service would ask, and stores nothing. */
export async function drySend(
  context: TransactionsContext,
  relayer: Relayer,
  { idempotencyKey, ...sending }: Sending,
): Promise<DryRun> {
  const { unit } = context.runtimeOf(relayer).chain
  const earlier = idempotencyKey && (await findKey(context.db, relayer.id, idempotencyKey.key))
  // As for a send, a used key comes before every other rule: a repeated request returns its transaction, also when the relayer is paused.
  if (earlier) return { ...repeatedRun(earlier, idempotencyKey), unit }
  return dryNewSend(context, relayer, { ...sending, hasIdempotencyKey: idempotencyKey !== undefined })
}

/** Tells what would happen to a request whose key was used before. Pure. */
function repeatedRun(earlier: KeyRecord, idempotencyKey: IdempotencyKey): Omit<DryRun, 'unit'> {
  const refusal = keyReuseError(earlier, idempotencyKey)
  const logs = [
    `This Idempotency-Key was used before: a send would return transaction ${earlier.transactionId}, which it made, and spend nothing.`,
  ]
  return { refusal, simulation: 'skipped', results: [], logs: refusal ? [] : logs }
}

async function dryNewSend(
  context: TransactionsContext,
  relayer: Relayer,
  { request: sent, actor, hasIdempotencyKey }: RuledRequest,
): Promise<DryRun> {
  const { chain } = context.runtimeOf(relayer)
  const request = await withEncodedArgs(chain, sent)
  const { unit } = chain
  const problem = checkRequest(context, relayer, request)
  if (problem) return { refusal: problem, simulation: 'skipped', unit, results: [], logs: [] }
  const effects = () => chain.effects(request, relayer.address)
  const [waiting = []] = await evaluateApprovals(context.db, relayer, [{ actor, effects }])
  const ofContent = [...evaluateRequest(context, relayer, { request, actor, hasIdempotencyKey }), ...waiting]
  const prepared = await prepareContent({ relayer, request, chain, now: context.clock.now() })
  const violated = refusalIn(ofContent)
  if (prepared.kind === 'refused') {
    const { code, detail } = prepared.refusal
    const refusal = violated ?? new AppError(code, detail)
    return { refusal, simulation: 'refused', unit, results: ofContent, logs: [] }
  }
  const known = prepared.kind === 'ok' ? prepared.value : undefined
  const cost = known === undefined ? chain.amountOut(request) : chain.cost(known.draft)
  const awaitsPrice = known?.awaitsPrice !== undefined
  const evaluated = await evaluatePrice(context, {
    relayer,
    actor,
    request,
    draft: known?.draft,
    cost,
    awaitsPrice,
  })
  const included = known?.included === undefined ? undefined : new AppError('invalid_request', known.included)
  const refusal = violated ?? included ?? (await nonceProblem(context, relayer, request))
  return {
    ...pricedRun({ refusal, unit, ofContent, evaluated }),
    simulation: prepared.kind === 'unknown' ? 'unknown' : 'succeeded',
    logs: prepared.kind === 'ok' ? prepared.value.logs : [prepared.detail],
  }
}

async function nonceProblem(
  { db, runtimeOf }: TransactionsContext,
  relayer: Relayer,
  request: ChainRequest,
): Promise<AppError | undefined> {
  const runtime = runtimeOf(relayer)
  const nonce: ExternalNonce | undefined = runtime.chain.externalSigning?.nonceOf(request)
  if (nonce === undefined) return undefined
  const used = await db
    .transaction()
    .execute((tx) => usedExternalNonces(tx, runtime, { relayerId: relayer.id, nonces: [nonce] }))
  return externalNonceProblem(runtime, nonce, used)
}
