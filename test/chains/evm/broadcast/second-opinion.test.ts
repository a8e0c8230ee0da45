import { describe, expect, test } from 'vitest'
import type { BroadcastResult } from '../../../../src/chains/answer.ts'
import {
  createRefusalMemory,
  evaluateOpinions,
  type Opinion,
} from '../../../../src/chains/evm/broadcast/second-opinion.ts'
import { SETTLE_MS } from '../../../../src/chains/simulations.ts'

const opinion = (
  kind: BroadcastResult['kind'],
  { head = 100n, behind = false }: { head?: bigint; behind?: boolean } = {},
): Opinion => ({
  result: kind === 'accepted' ? { kind } : { kind, detail: `said ${kind}` },
  head,
  behind,
})
const BEHIND = { behind: true, head: 50n }

describe('what several endpoints together say', () => {
  test.each([
    {
      name: 'one refuses, another takes it',
      of: [opinion('refused'), opinion('accepted')],
      want: 'accepted',
    },
    {
      name: 'one refuses, another behind takes it',
      of: [opinion('refused'), opinion('accepted', BEHIND)],
      want: 'accepted',
    },
    {
      name: 'one refuses, another knows the nonce',
      of: [opinion('refused'), opinion('nonce_used')],
      want: 'nonce_used',
    },
    { name: 'two refuse at the head', of: [opinion('refused'), opinion('refused')], want: 'refused' },
    {
      name: 'one refuses, another from behind',
      of: [opinion('refused'), opinion('refused', BEHIND)],
      want: 'later',
    },
    { name: 'one refuses, another is silent', of: [opinion('refused'), opinion('unknown')], want: 'later' },
    {
      name: 'one refuses, another wants it later',
      of: [opinion('refused'), opinion('later')],
      want: 'later',
    },
    { name: 'all are behind', of: [opinion('refused', BEHIND), opinion('refused', BEHIND)], want: 'later' },
    {
      name: 'too cheap for one is enough for another price',
      of: [opinion('too_cheap'), opinion('refused')],
      want: 'too_cheap',
    },
    {
      name: 'too cheap only from behind',
      of: [opinion('too_cheap', BEHIND), opinion('later')],
      want: 'later',
    },
    {
      name: 'too dear for one, taken by another',
      of: [opinion('too_dear'), opinion('accepted')],
      want: 'accepted',
    },
    { name: 'too dear for all', of: [opinion('too_dear'), opinion('too_dear')], want: 'too_dear' },
    {
      name: 'a gas limit that two do not want',
      of: [opinion('gas_limit'), opinion('refused')],
      want: 'gas_limit',
    },
    {
      name: 'a gas limit that one does not want',
      of: [opinion('gas_limit'), opinion('unknown')],
      want: 'later',
    },
    { name: 'all refuse in unknown words', of: [opinion('unclear'), opinion('unclear')], want: 'unclear' },
    {
      name: 'one refuses in unknown words, another takes it',
      of: [opinion('unclear'), opinion('accepted')],
      want: 'accepted',
    },
    {
      name: 'one refuses in unknown words, another has known words: the first is at fault',
      of: [opinion('unclear'), opinion('later')],
      want: 'later',
    },
    {
      name: 'one refuses in unknown words, another behind has known words',
      of: [opinion('unclear'), opinion('later', BEHIND)],
      want: 'unclear',
    },
    { name: 'only one behind refuses in unknown words', of: [opinion('unclear', BEHIND)], want: 'later' },
    {
      name: 'one refuses in unknown words, another demands a price',
      of: [opinion('unclear'), opinion('too_cheap')],
      want: 'too_cheap',
    },
    {
      name: 'one refuses for good, another in unknown words',
      of: [opinion('refused'), opinion('unclear')],
      want: 'unclear',
    },
    { name: 'nobody', of: [], want: 'later' },
  ] as const)('$name: $want', ({ of, want }) => {
    expect(evaluateOpinions(of, { first: undefined, now: 0, endpoints: 2 }).kind).toBe(want)
  })

  test.each([
    { name: 'alone, at the same block', endpoints: 1, first: 100n, want: 'later' },
    { name: 'alone, a block later', endpoints: 1, first: 99n, want: 'refused' },
    { name: 'alone, for the first time', endpoints: 1, first: undefined, want: 'later' },
    { name: 'alone, many blocks in little time later', endpoints: 1, first: 1n, early: 1, want: 'later' },
    { name: 'among silent ones, 31 blocks later', endpoints: 2, first: 69n, want: 'later' },
    { name: 'among silent ones, 32 blocks later', endpoints: 2, first: 68n, want: 'refused' },
    { name: 'among silent ones, too early', endpoints: 2, first: 1n, early: 1, want: 'later' },
  ])('the same endpoint again $name: $want', ({ endpoints, first, early = 0, want }) => {
    const opinions = endpoints === 1 ? [opinion('refused')] : [opinion('refused'), opinion('unknown')]
    const refusal = first === undefined ? undefined : { head: first, at: 5 }
    const circumstances = { first: refusal, now: 5 + SETTLE_MS - early, endpoints }
    expect(evaluateOpinions(opinions, circumstances).kind).toBe(want)
  })

  test.each([
    { name: 'both answered', of: [opinion('too_dear'), opinion('refused')], endpoints: 2, want: false },
    { name: 'one did not answer', of: [opinion('too_dear'), opinion('unknown')], endpoints: 2, want: true },
    {
      name: 'a pool holds another, and one did not answer',
      of: [opinion('underpriced'), opinion('unknown')],
      endpoints: 2,
      want: true,
    },
    {
      name: 'a pool holds another, and all answered',
      of: [opinion('underpriced'), opinion('later')],
      endpoints: 2,
      want: false,
    },
    { name: 'one rests', of: [opinion('too_cheap')], endpoints: 2, want: true },
    {
      name: 'one refuses in unknown words, and one did not answer',
      of: [opinion('unclear'), opinion('unknown')],
      endpoints: 2,
      want: true,
    },
    {
      name: 'two refuse and one is silent',
      of: [opinion('refused'), opinion('refused'), opinion('unknown')],
      endpoints: 3,
      want: true,
    },
  ])('whether somebody may have taken it: $name', ({ of, endpoints, want }) => {
    const result = evaluateOpinions(of, { first: undefined, now: 0, endpoints })
    expect('unanswered' in result).toBe(want)
  })

  test('the same endpoint again, while another refuses in unknown words: refused', () => {
    const opinions = [opinion('refused'), opinion('unclear')]
    expect(
      evaluateOpinions(opinions, { first: { head: 1n, at: 0 }, now: SETTLE_MS, endpoints: 2 }).kind,
    ).toBe('refused')
  })

  test('the same endpoint again, while another wants it later: later', () => {
    const opinions = [opinion('refused'), opinion('later')]
    expect(
      evaluateOpinions(opinions, { first: { head: 1n, at: 0 }, now: SETTLE_MS, endpoints: 2 }).kind,
    ).toBe('later')
  })
})

describe('the memory of refusals', () => {
  test('keeps the first block, through silence, until somebody at the head thinks otherwise', () => {
    const memory = createRefusalMemory()
    memory.remember('0x1', [opinion('refused', { head: 7n })], 1)
    memory.remember('0x1', [opinion('refused', { head: 9n })], 2)
    memory.remember('0x1', [opinion('unknown'), opinion('later', BEHIND)], 3)
    expect(memory.firstRefusal('0x1')).toEqual({ head: 7n, at: 1 })
    memory.remember('0x1', [opinion('later')], 4)
    expect(memory.firstRefusal('0x1')).toBeUndefined()
  })

  test('takes no refusal from behind', () => {
    const memory = createRefusalMemory()
    memory.remember('0x1', [opinion('refused', BEHIND)], 1)
    expect(memory.firstRefusal('0x1')).toBeUndefined()
  })

  test('does not grow for ever', () => {
    const memory = createRefusalMemory()
    for (let count = 0; count <= 1_000; count += 1) memory.remember(`0x${count}`, [opinion('refused')], count)
    expect([memory.firstRefusal('0x0'), memory.firstRefusal('0x1000')]).toEqual([
      undefined,
      { head: 100n, at: 1_000 },
    ])
  })
})
