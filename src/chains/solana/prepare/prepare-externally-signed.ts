import { omitUndefined } from '../../../lib/omit-undefined.ts'
import type { Answer } from '../../answer.ts'
import type { SolanaDraft } from '../content.ts'
import { requireNonce } from '../read/nonce-account.ts'
import { guardedSimulation } from '../simulate/guarded-simulation.ts'
import type { SolanaPrepared } from '../types.ts'
import type { Message } from '../wire/message.ts'
import { readExternalLifetime } from './blockhash.ts'
import { feeOf, readBudget } from './compute-budget.ts'
import type { Case, PrepareContext } from './prepare-context.ts'

/**
 * Prepares a transaction that others have signed: it is sent unchanged or not at all, because blockhash, price and instructions are theirs.
 */
export async function prepareExternallySigned(
  context: PrepareContext,
  externallySigned: Case,
): Promise<Answer<SolanaPrepared>> {
  const { subject, request, nonceAccount } = externallySigned
  const { message } = subject
  const [lifetime, outcome] = await Promise.all([
    lifetimeFor(context, message, nonceAccount),
    guardedSimulation(context, externallySigned, message),
  ])
  if (lifetime.kind !== 'ok') return lifetime
  if (outcome.kind !== 'ok') return outcome
  const draft = omitUndefined({
    type: 'solana' as const,
    transaction: request.transaction ?? '',
    fee: feeOf(message),
    unitPrice: readBudget(message).unitPrice ?? 0n,
    spends: outcome.value.taken,
    expiresAt: lifetime.value.expiresAt,
    preparedAtSlot: lifetime.value.preparedAtSlot,
    nonceAccount: lifetime.value.expiresAt === undefined ? nonceAccount : undefined,
  })
  return { kind: 'ok', value: { draft, logs: [] } }
}

/** The end of its life, or its beginning with a durable nonce. */
type ExternalLifetime = Pick<SolanaDraft, 'expiresAt' | 'preparedAtSlot'>

async function lifetimeFor(
  context: PrepareContext,
  { lifetimeToken }: Message,
  nonceAccount: string | undefined,
): Promise<Answer<ExternalLifetime>> {
  return nonceAccount === undefined
    ? readExternalLifetime(context, lifetimeToken)
    : checkNonce(context, nonceAccount, lifetimeToken)
}

/**
 * A durable nonce is valid until its authority advances it. The value in its place may also be a blockhash, which counts first (agave
 * `runtime/src/bank/check_transactions.rs`), or a value that the endpoint does not know yet.
 */
async function checkNonce(
  context: PrepareContext,
  nonceAccount: string,
  value: string,
): Promise<Answer<ExternalLifetime>> {
  const nonce = await requireNonce(context, nonceAccount)
  if (nonce.kind !== 'ok') return nonce
  if (nonce.value.value === value) return { kind: 'ok', value: { preparedAtSlot: nonce.value.slot } }
  const lifetime = await readExternalLifetime(context, value)
  if (lifetime.kind !== 'refused') return lifetime
  const detail = `transaction: its durable nonce is no longer that of ${nonceAccount}; sign it with the present one.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}
