import type { Attempt } from '../../chains/attempt.ts'
import { AppError } from '../../errors.ts'
import { refuseIncluded } from '../accept/accept.ts'
import { prepareContent } from '../accept/prepare-content.ts'
import { isLimited } from '../budgets/charge.ts'
import { isScheduled } from '../model/due.ts'
import {
  contentNonce,
  hasNonce,
  isExternallySigned,
  type RelayerRuntime,
  type TransactionsContext,
} from '../model/runtime.ts'
import { ENDED_UNSIGNED, type Transaction, type TransactionWithAttempts } from '../model/transaction.ts'
import { nextStatus } from '../model/transitions.ts'
import {
  type Change,
  checkReplacementFunds,
  type NonceChange,
  type Replaced,
  savePending,
} from './replacement.ts'

/** Replaces the content of a transaction without a current attempt. The worker signs it later. Undefined when the record changed meanwhile. */
export async function replacePending(
  context: TransactionsContext,
  change: Change,
  { transaction, attempts }: TransactionWithAttempts,
): Promise<Replaced | undefined> {
  const { relayer, request } = change
  const nextRunAt = new Date(context.clock.now())
  const runtime = context.runtimeOf(relayer)
  if (request === undefined) {
    const canceled = canceledPending(runtime, { transaction, attempts }, nextRunAt)
    const replaced = { transaction: canceled, attempts, logs: [] }
    return savePending(context, { change, before: transaction, replaced, cost: 0n }, {})
  }
  const { chain } = runtime
  const prepared = await prepareContent({ relayer, request, chain, now: context.clock.now() })
  if (prepared.kind === 'refused') throw new AppError(prepared.refusal.code, prepared.refusal.detail)
  const known = prepared.kind === 'ok' ? prepared.value : undefined
  refuseIncluded(known)
  const cost = known === undefined ? chain.amountOut(request) : chain.cost(known.draft)
  const nonce = contentNonce(runtime, transaction, request)
  const next: Transaction = {
    ...transaction,
    ...nonce,
    status: nextStatus(transaction.status, 'replaced'),
    // With a nonce it holds up the others, so it is signed at any price.
    ...(nonce.nonce === undefined && known?.awaitsPrice !== undefined
      ? { awaitsPrice: true, statusReason: known.awaitsPrice }
      : { awaitsPrice: undefined, statusReason: undefined }),
    request,
    purpose: 'request',
    estimatedGas: known?.knownGas,
    cost,
    isBudgeted: transaction.isBudgeted || isLimited(change) || undefined,
    nextRunAt,
  }
  if (!isScheduled(next, context.clock.now()) && next.awaitsPrice !== true)
    await checkReplacementFunds(context, { relayer, id: transaction.id, cost })
  const logs = [pendingLog(attempts), ...(known?.logs ?? [])]
  const replaced = { transaction: next, attempts, logs }
  const nonces = nonceChange(runtime, transaction, next)
  return savePending(context, { change, before: transaction, replaced, cost }, nonces)
}

function nonceChange(runtime: RelayerRuntime, before: Transaction, next: Transaction): NonceChange {
  if (hasNonce(before, { sourceAccount: next.sourceAccount, nonce: next.nonce })) return {}
  return {
    claimed: runtime.chain.externalSigning?.nonceOf(next.request),
    freed: isExternallySigned(runtime, before) ? undefined : before.sourceAccount,
  }
}

function pendingLog(attempts: readonly Attempt[]): string {
  return attempts.length === 0
    ? 'Nothing had been signed; the new content takes its place.'
    : 'None of the signed attempts is in effect any more; the new content takes their place.'
}

/** A no-op must use an assigned nonce, because all later nonces wait for it (I5). */
function canceledPending(
  runtime: RelayerRuntime,
  { transaction, attempts }: TransactionWithAttempts,
  nextRunAt: Date,
): Transaction {
  if (transaction.nonce !== undefined && !isExternallySigned(runtime, transaction)) {
    return {
      ...transaction,
      purpose: 'cancel',
      statusReason: 'Canceled by the caller; a no-op takes its nonce.',
      nextRunAt,
    }
  }
  const status = nextStatus(transaction.status, 'canceled')
  return {
    ...transaction,
    ...ENDED_UNSIGNED,
    status,
    statusReason:
      attempts.length === 0
        ? 'Canceled by the caller before anything was signed.'
        : 'Canceled by the caller; the chain has proved that nothing that was signed is included.',
  }
}
