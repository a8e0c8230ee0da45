import { describe, expect, test } from 'vitest'
import type { Answer } from '../../src/chains/answer.ts'
import { evaluateSimulations, type SimulationOpinion } from '../../src/chains/simulation-opinions.ts'
import { createSimulationRefusals } from '../../src/chains/simulation-refusals.ts'

type Kind = Answer<number>['kind']

const ANSWERS: Readonly<Record<Kind, Answer<number>>> = {
  ok: { kind: 'ok', value: 1 },
  refused: { kind: 'refused', refusal: { code: 'execution_reverted', detail: 'It reverts.' } },
  unknown: { kind: 'unknown', detail: 'time-out' },
}

const opinion = (
  kind: Kind,
  { head = 100n, behind = false }: { head?: bigint; behind?: boolean } = {},
): SimulationOpinion<number> => ({ answer: ANSWERS[kind], head, behind })
const BEHIND = { head: 50n, behind: true }

/** `doubted`: a refusal that is not the last word. */
function outcomeOf(answer: Answer<number>): Kind | 'doubted' {
  return answer.kind === 'refused' && answer.refusal.unanswered === true ? 'doubted' : answer.kind
}

describe('the opinions of all endpoints about a simulation', () => {
  test.each([
    { name: 'all refuse', of: [opinion('refused'), opinion('refused')], want: 'refused' },
    { name: 'one refuses and another succeeds', of: [opinion('refused'), opinion('ok')], want: 'ok' },
    {
      name: 'the newest refuses and one behind succeeds',
      of: [opinion('ok', BEHIND), opinion('refused')],
      want: 'refused',
    },
    {
      name: 'the newest refuses and one behind refuses',
      of: [opinion('refused', BEHIND), opinion('refused')],
      want: 'refused',
    },
    {
      name: 'one refuses and another is silent',
      of: [opinion('refused'), opinion('unknown')],
      want: 'doubted',
    },
    {
      name: 'one refuses, one behind refuses, and another is silent',
      of: [opinion('refused'), opinion('refused', BEHIND), opinion('unknown')],
      want: 'doubted',
    },
    { name: 'all are behind', of: [opinion('refused', BEHIND), opinion('refused', BEHIND)], want: 'unknown' },
    { name: 'only one behind succeeds', of: [opinion('ok', BEHIND), opinion('unknown')], want: 'unknown' },
    {
      name: 'the one that refuses does not tell its height',
      of: [{ ...opinion('refused'), head: undefined }],
      want: 'unknown',
    },
    { name: 'all are silent', of: [opinion('unknown'), opinion('unknown')], want: 'unknown' },
    { name: 'nobody', of: [], want: 'unknown' },
  ] as const)('$name: $want', ({ of, want }) => {
    expect(outcomeOf(evaluateSimulations(of, { firstRefusedAt: undefined, finalAfter: 12n }))).toBe(want)
  })

  test.each([
    { name: 'at the same block', first: 100n, want: 'doubted' },
    { name: '11 blocks later', first: 89n, want: 'doubted' },
    { name: '12 blocks later', first: 88n, want: 'refused' },
  ])('a refusal again $name, while another is silent: $want', ({ first, want }) => {
    const opinions = [opinion('refused'), opinion('unknown')]
    expect(outcomeOf(evaluateSimulations(opinions, { firstRefusedAt: first, finalAfter: 12n }))).toBe(want)
  })
})

describe('the opinion of an endpoint that is alone', () => {
  test.each([
    { name: 'for the first time', first: undefined, want: 'doubted' },
    { name: '3 blocks later', first: 97n, want: 'doubted' },
    { name: '4 blocks later, a third of the wait', first: 96n, want: 'refused' },
  ])('a refusal $name: $want', ({ first, want }) => {
    const answer = evaluateSimulations([opinion('refused')], { firstRefusedAt: first, finalAfter: 12n })
    expect(outcomeOf(answer)).toBe(want)
  })
})

describe('the memory of refused simulations', () => {
  const doubted = (head: bigint) => [opinion('refused', { head }), opinion('unknown')]

  test('keeps the first refusal of a content, through silence, and of no other content', () => {
    const refusals = createSimulationRefusals(12n)
    expect(outcomeOf(refusals.settle('one', doubted(100n)))).toBe('doubted')
    expect(refusals.settle('one', [opinion('unknown'), opinion('unknown')]).kind).toBe('unknown')
    expect(outcomeOf(refusals.settle('one', doubted(111n)))).toBe('doubted')
    expect(outcomeOf(refusals.settle('other', doubted(112n)))).toBe('doubted')
    expect(outcomeOf(refusals.settle('one', doubted(112n)))).toBe('refused')
  })

  test('takes no refusal from behind', () => {
    const refusals = createSimulationRefusals(12n)
    refusals.settle('one', [opinion('refused', BEHIND), opinion('unknown')])
    expect(outcomeOf(refusals.settle('one', doubted(100n)))).toBe('doubted')
  })

  test('begins anew after a success', () => {
    const refusals = createSimulationRefusals(12n)
    refusals.settle('one', doubted(100n))
    refusals.settle('one', [opinion('refused', { head: 105n }), opinion('ok', { head: 105n })])
    expect(outcomeOf(refusals.settle('one', doubted(112n)))).toBe('doubted')
  })

  test('begins anew when the last refusal was long ago', () => {
    const refusals = createSimulationRefusals(12n)
    refusals.settle('one', doubted(100n))
    expect(outcomeOf(refusals.settle('one', doubted(149n)))).toBe('doubted')
    expect(outcomeOf(refusals.settle('one', doubted(161n)))).toBe('refused')
  })

  test('does not grow for ever', () => {
    const refusals = createSimulationRefusals(12n)
    for (let count = 0; count <= 1_000; count += 1) refusals.settle(count, doubted(100n))
    expect(outcomeOf(refusals.settle(1_000, doubted(112n)))).toBe('refused')
    expect(outcomeOf(refusals.settle(0, doubted(112n)))).toBe('doubted')
  })
})
