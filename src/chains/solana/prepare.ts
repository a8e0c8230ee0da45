import { defined } from '../../defined.ts'
import type { Answer } from '../answer.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import { accountsOf } from './accounts.ts'
import type { SolanaRequest } from './content.ts'
import { checkFeePayer, maySpend } from './fee-payer.ts'
import { loadAddresses } from './lookups.ts'
import { isMultiSigner } from './message.ts'
import { checkPolicies } from './policies.ts'
import type { Case, PrepareContext } from './prepare-context.ts'
import { prepareForeign } from './prepare-foreign.ts'
import { prepareOwn } from './prepare-own.ts'
import { contentOf } from './request-content.ts'
import { nonceAccountOf } from './system-instruction.ts'
import type { SolanaAccount, SolanaPrepared } from './types.ts'

/**
 * The content of a new transaction: its tables read, held against the rules of the relayer, simulated, priced, and with a
 * blockhash. What others have signed stays as it is.
 */
export async function prepareDraft(
  context: PrepareContext,
  request: SolanaRequest,
  account: SolanaAccount,
): Promise<Answer<SolanaPrepared>> {
  const answer = await openCase(context.client, request, account)
  if (answer.kind !== 'ok') return answer
  return isMultiSigner(answer.value.judged.message)
    ? prepareForeign(context, answer.value)
    : prepareOwn(context, answer.value)
}

/** The same for what the caller sends by itself: nothing of it is completed. */
export async function prepareAsItIs(
  context: PrepareContext,
  request: SolanaRequest,
  account: SolanaAccount,
): Promise<Answer<SolanaPrepared>> {
  const answer = await openCase(context.client, request, account)
  return answer.kind === 'ok' ? prepareForeign(context, answer.value) : answer
}

/** Reads the tables, and looks at everything again: rules may have changed since the request was accepted. */
async function openCase(
  client: PooledClient,
  request: SolanaRequest,
  { address: self, policies }: SolanaAccount,
): Promise<Answer<Case>> {
  const { message, at } = contentOf(request, self)
  const loaded = await loadAddresses(client, message)
  if (loaded.kind !== 'ok') return loaded
  const accounts = accountsOf(message, loaded.value)
  const judged = { message, accounts, self, at }
  const refusal = checkPolicies(judged, policies) ?? checkFeePayer(judged, policies)
  if (refusal !== undefined) return { kind: 'refused', refusal }
  const nonceAccount = nonceAccountOf(message, accounts)
  return {
    kind: 'ok',
    value: defined({ judged, request, policies, spends: maySpend(message, policies), nonceAccount }),
  }
}
