import { expect, test } from 'vitest'
import type { Answer } from '../../../../src/chains/answer.ts'
import { createSimulationRefusals, type SimulationOpinion } from '../../../../src/chains/simulations.ts'
import { withHarmVeto } from '../../../../src/chains/solana/prepare/guarded-simulation.ts'
import { createTestClock } from '../../../support/clock.ts'

const refusedAs = (code: 'fee_payer_at_risk' | 'execution_reverted'): Answer<number> => ({
  kind: 'refused',
  refusal: { code, detail: 'no' },
})
const opinion = (answer: Answer<number>, behind = false): SimulationOpinion<number> => ({
  answer,
  head: behind ? 50n : 100n,
  behind,
})
const GOOD = opinion({ kind: 'ok', value: 1 })
const HARM = opinion(refusedAs('fee_payer_at_risk'))
const HARM_BEHIND = opinion(refusedAs('fee_payer_at_risk'), true)
const REVERT = opinion(refusedAs('execution_reverted'))

test.each([
  { name: 'a loss and a success', of: [HARM, GOOD], want: { code: 'fee_payer_at_risk', unanswered: true } },
  { name: 'a success and a loss', of: [GOOD, HARM], want: { code: 'fee_payer_at_risk', unanswered: true } },
  { name: 'two losses', of: [HARM, HARM], want: { code: 'fee_payer_at_risk' } },
  { name: 'a loss from behind and a success', of: [HARM_BEHIND, GOOD], want: 'ok' },
  { name: 'a failure and a success', of: [REVERT, GOOD], want: 'ok' },
])('$name of endpoints', ({ of, want }) => {
  const answer = createSimulationRefusals(150n, createTestClock()).settle('content', withHarmVeto(of))
  if (answer.kind === 'refused') expect(answer.refusal).toEqual({ ...Object(want), detail: 'no' })
  else expect(answer.kind).toBe(want)
})
