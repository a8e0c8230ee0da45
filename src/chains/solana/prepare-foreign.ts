import { defined } from '../../defined.ts'
import type { Answer } from '../answer.ts'
import { askForeignLifetime } from './blockhash.ts'
import { feeOf, readBudget } from './budget.ts'
import type { SolanaDraft } from './content.ts'
import { guardedSimulation } from './guard.ts'
import type { Message } from './message.ts'
import { demandNonce } from './nonce-account.ts'
import type { Case, PrepareContext } from './prepare-context.ts'
import type { SolanaPrepared } from './types.ts'

/** What others have signed is taken as it is, or not at all: blockhash, price and instructions are theirs. */
export async function prepareForeign(
  { client }: PrepareContext,
  foreign: Case,
): Promise<Answer<SolanaPrepared>> {
  const { judged, request, nonceAccount } = foreign
  const { message } = judged
  const [lifetime, outcome] = await Promise.all([
    lifetimeFor(client, message, nonceAccount),
    guardedSimulation(client, foreign, message),
  ])
  if (lifetime.kind !== 'ok') return lifetime
  if (outcome.kind !== 'ok') return outcome
  const draft = defined({
    type: 'solana' as const,
    transaction: request.transaction ?? '',
    fee: feeOf(message),
    unitPrice: readBudget(message).unitPrice ?? 0n,
    spends: outcome.value.taken,
    lapsesAt: lifetime.value.lapsesAt,
    preparedAtSlot: lifetime.value.preparedAtSlot,
    nonceAccount,
  })
  return { kind: 'ok', value: { draft, logs: [] } }
}

/** Until when it can be included, or since when. */
type ForeignLife = Pick<SolanaDraft, 'lapsesAt' | 'preparedAtSlot'>

function lifetimeFor(
  client: PrepareContext['client'],
  { lifetimeToken }: Message,
  nonceAccount: string | undefined,
): Promise<Answer<ForeignLife>> {
  return nonceAccount === undefined
    ? askForeignLifetime(client, lifetimeToken)
    : checkNonce(client, nonceAccount, lifetimeToken)
}

/** A durable nonce is good until somebody advances it. */
async function checkNonce(
  client: PrepareContext['client'],
  nonceAccount: string,
  value: string,
): Promise<Answer<ForeignLife>> {
  const nonce = await demandNonce(client, nonceAccount)
  if (nonce.kind !== 'ok') return nonce
  if (nonce.value.value === value) return { kind: 'ok', value: { preparedAtSlot: nonce.value.slot } }
  const detail = `transaction: its durable nonce is no longer that of ${nonceAccount}; sign it with the present one.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}
