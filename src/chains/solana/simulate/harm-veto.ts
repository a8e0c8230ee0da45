import type { Answer } from '../../answer.ts'
import type { SimulationOpinion } from '../../simulation-opinions.ts'

/**
 * An endpoint that sees the relayer lose something forbids the successes of the others: their state may be some slots older, and a loss
 * cannot be undone. The transaction is not signed before no endpoint that is not behind sees a loss any more. Pure.
 */
export function withHarmVeto<T>(opinions: readonly SimulationOpinion<T>[]): readonly SimulationOpinion<T>[] {
  if (!opinions.some(seesHarm)) return opinions
  return opinions.map((opinion) =>
    opinion.answer.kind === 'ok' ? { ...opinion, answer: FORBIDDEN } : opinion,
  )
}

function seesHarm({ answer, behind }: SimulationOpinion<unknown>): boolean {
  return !behind && answer.kind === 'refused' && answer.refusal.code === 'fee_payer_at_risk'
}

const FORBIDDEN: Answer<never> = {
  kind: 'unknown',
  detail: 'another endpoint sees the relayer lose something',
}
