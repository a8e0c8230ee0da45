import { larger } from '../../../lib/bigint.ts'
import type { Answer } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import type { SimulationOpinion } from '../../simulation-opinions.ts'
import { dependsOnState, type SimulationRefusals } from '../../simulation-refusals.ts'
import type { UnknownTexts } from '../../unknown-texts.ts'
import type { EvmRequest } from '../content.ts'
import { askEverywhere } from '../inclusion/everywhere.ts'
import { HEIGHT, readCount } from '../quantity.ts'
import { comparedCalls, estimateGas, type GasCall, gasCallOf, readCompared } from './gas.ts'

/** The context of an estimate. */
export interface EstimateContext {
  readonly client: Pick<PooledClient, 'send' | 'call' | 'sendEverywhere' | 'states'>
  readonly simulations: SimulationRefusals
  readonly unknownTexts?: UnknownTexts | undefined
}

/**
 * Estimates the gas of a request. A node that has not seen the newest block may call a good request reverted, so a revert asks for the opinions
 * of all endpoints. A lack of funds does not: the transaction waits for them in any case.
 */
export async function estimateWithSecondOpinion(
  context: EstimateContext,
  request: EvmRequest,
  from: string,
): Promise<Answer<bigint>> {
  const answer = await estimateGas(context, request, from)
  const isDoubtful = answer.kind === 'refused' && dependsOnState(answer.refusal)
  if (!isDoubtful) return answer
  return estimateEverywhere(context, gasCallOf(request, from))
}

async function estimateEverywhere(
  { client, simulations }: EstimateContext,
  call: GasCall,
): Promise<Answer<bigint>> {
  const { endpoints } = await askEverywhere(client, [HEIGHT.call, ...comparedCalls(call)])
  const told = endpoints.map(({ behind, replies: [height, estimate, control] }) => ({
    answer: readCompared(estimate, control),
    head: height?.kind === 'result' ? readCount(height.result) : undefined,
    behind,
  }))
  const newest = told.reduce((top, { head }) => larger(top, head ?? 0n), 0n)
  const opinions = told.map(
    (one): SimulationOpinion<bigint> => ({ ...one, behind: one.behind || one.head !== newest }),
  )
  return simulations.settle(call, opinions)
}
