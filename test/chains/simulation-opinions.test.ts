import { describe, expect, test } from 'vitest'
import type { Answer } from '../../src/chains/answer.ts'
import {
  createSimulationRefusals,
  evaluateSimulations,
  SETTLE_MS,
  type SimulationOpinion,
} from '../../src/chains/simulations.ts'
import { createTestClock } from '../support/clock.ts'

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
const otherReason: SimulationOpinion<number> = {
  ...opinion('refused'),
  answer: { kind: 'refused', refusal: { code: 'fee_payer_at_risk', detail: 'It takes lamports.' } },
}
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
    {
      name: 'two of three refuse for the same reason',
      of: [opinion('ok'), opinion('refused'), opinion('refused')],
      want: 'refused',
    },
    {
      name: 'two refuse for the same reason and a third is silent',
      of: [opinion('refused'), opinion('unknown'), opinion('refused')],
      want: 'refused',
    },
    {
      name: 'one refuses and two of three succeed',
      of: [opinion('refused'), opinion('ok'), opinion('ok')],
      want: 'ok',
    },
    { name: 'two refuse for two reasons', of: [opinion('refused'), otherReason], want: 'refused' },
    {
      name: 'two refuse for two reasons and a third succeeds',
      of: [opinion('ok'), opinion('refused'), otherReason],
      want: 'doubted',
    },
    {
      name: 'two refuse for two reasons and a third is silent',
      of: [opinion('refused'), otherReason, opinion('unknown')],
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
    expect(outcomeOf(evaluateSimulations(of, { first: undefined, now: 0, finalAfter: 12n }))).toBe(want)
  })

  test.each([
    { name: 'at the same block', head: 100n, after: SETTLE_MS, want: 'doubted' },
    { name: '11 blocks later', head: 89n, after: SETTLE_MS, want: 'doubted' },
    { name: '12 blocks later', head: 88n, after: SETTLE_MS, want: 'refused' },
    { name: '12 blocks and too little time later', head: 88n, after: SETTLE_MS - 1, want: 'doubted' },
  ])('a refusal again $name, while another is silent: $want', ({ head, after, want }) => {
    const opinions = [opinion('refused'), opinion('unknown')]
    const circumstances = { first: { head, at: 7 }, now: 7 + after, finalAfter: 12n }
    expect(outcomeOf(evaluateSimulations(opinions, circumstances))).toBe(want)
  })
})

describe('the opinion of an endpoint that is alone', () => {
  test.each([
    { name: 'for the first time', first: undefined, want: 'doubted' },
    { name: '3 blocks later', first: { head: 97n, at: 0 }, want: 'doubted' },
    { name: '4 blocks later, a third of the wait', first: { head: 96n, at: 0 }, want: 'refused' },
    { name: '40 blocks and too little time later', first: { head: 60n, at: 1 }, want: 'doubted' },
  ])('a refusal $name: $want', ({ first, want }) => {
    const answer = evaluateSimulations([opinion('refused')], { first, now: SETTLE_MS, finalAfter: 12n })
    expect(outcomeOf(answer)).toBe(want)
  })
})

describe('the memory of refused simulations', () => {
  const doubted = (head: bigint) => [opinion('refused', { head }), opinion('unknown')]

  function openMemory() {
    const clock = createTestClock()
    const refusals = createSimulationRefusals(12n, clock)
    return {
      clock,
      settle: (content: unknown, opinions: readonly SimulationOpinion<number>[], after = SETTLE_MS) => {
        clock.advance(after)
        return refusals.settle(content, opinions)
      },
    }
  }

  test('keeps the first refusal of a content, through silence, and of no other content', () => {
    const { settle } = openMemory()
    expect(outcomeOf(settle('one', doubted(100n)))).toBe('doubted')
    expect(settle('one', [opinion('unknown'), opinion('unknown')]).kind).toBe('unknown')
    expect(outcomeOf(settle('one', doubted(111n)))).toBe('doubted')
    expect(outcomeOf(settle('other', doubted(112n)))).toBe('doubted')
    expect(outcomeOf(settle('one', doubted(112n)))).toBe('refused')
  })

  test('does not believe many blocks in little time', () => {
    const { settle } = openMemory()
    settle('one', doubted(100n))
    expect(outcomeOf(settle('one', doubted(140n), SETTLE_MS - 1))).toBe('doubted')
    expect(outcomeOf(settle('one', doubted(141n), 1))).toBe('refused')
  })

  test('takes no refusal from behind', () => {
    const { settle } = openMemory()
    settle('one', [opinion('refused', BEHIND), opinion('unknown')])
    expect(outcomeOf(settle('one', doubted(100n)))).toBe('doubted')
  })

  test('starts from zero after a success', () => {
    const { settle } = openMemory()
    settle('one', doubted(100n))
    settle('one', [opinion('refused', { head: 105n }), opinion('ok', { head: 105n })])
    expect(outcomeOf(settle('one', doubted(112n)))).toBe('doubted')
  })

  test('starts from zero when the last refusal was many blocks and a long time ago', () => {
    const { settle } = openMemory()
    settle('one', doubted(100n))
    expect(outcomeOf(settle('one', doubted(149n), 5 * SETTLE_MS))).toBe('doubted')
    expect(outcomeOf(settle('one', doubted(161n)))).toBe('refused')
  })

  test.each([
    { name: 'blocks in a short time', head: 300n, after: SETTLE_MS },
    { name: 'time with few blocks', head: 112n, after: 50 * SETTLE_MS },
  ])('goes on after much $name', ({ head, after }) => {
    const { settle } = openMemory()
    settle('one', doubted(100n))
    expect(outcomeOf(settle('one', doubted(head), after))).toBe('refused')
  })

  test('does not grow for ever', () => {
    const { settle } = openMemory()
    for (let count = 0; count <= 1_000; count += 1) settle(count, doubted(100n), 0)
    expect(outcomeOf(settle(1_000, doubted(112n)))).toBe('refused')
    expect(outcomeOf(settle(0, doubted(112n)))).toBe('doubted')
  })
})
