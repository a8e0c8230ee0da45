import { smaller } from '../../../lib/bigint.ts'
import type { Answer } from '../../answer.ts'
import type { Fees } from '../content.ts'
import type { EvmAccount, EvmAttempt, EvmPrepared } from '../types.ts'
import { capped, ceilingOf } from './fees.ts'
import { NO_CODE } from './noop-target.ts'
import { type PrepareContext, prepareDraft } from './prepare.ts'

/**
 * Prepares the no-op that is broadcast in place of a refused attempt (`Comparison` of the capabilities). Its receiver has no code, so nothing of
 * what it calls can be the reason of a refusal; and a transfer to oneself would be the command of Flashbots Protect to cancel.
 */
export async function prepareComparedNoop(
  context: PrepareContext,
  { refused, account }: { readonly refused: EvmAttempt; readonly account: EvmAccount },
): Promise<Answer<EvmPrepared>> {
  const request = { type: 'evm', to: NO_CODE, value: 0n, data: '0x', speed: 'fast', isNoop: true } as const
  const answer = await prepareDraft(context, { request, account })
  if (answer.kind !== 'ok') return answer
  const { draft, ...rest } = answer.value
  return { kind: 'ok', value: { ...rest, draft: { ...draft, fees: atMost(draft.fees, refused.draft.fees) } } }
}

/** Returns the fees with neither price above that of `most`: a price that is the reason of a refusal then shows as one of the no-op, too. */
function atMost(fees: Fees, most: Fees): Fees {
  const lowered = capped(fees, ceilingOf(most))
  if (lowered.kind === 'legacy' || most.kind === 'legacy') return lowered
  const maxPriorityFeePerGas = smaller(lowered.maxPriorityFeePerGas, most.maxPriorityFeePerGas)
  return { ...lowered, maxPriorityFeePerGas }
}
