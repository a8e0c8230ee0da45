import { describe, expect, test } from 'vitest'
import type { BroadcastResult } from '../../../../src/chains/answer.ts'
import { broadcastAll } from '../../../../src/chains/evm/broadcast/broadcast.ts'
import { readBroadcast } from '../../../../src/chains/evm/broadcast/failures.ts'
import {
  evaluatePrivateOpinions,
  type PrivateOpinion,
} from '../../../../src/chains/evm/broadcast/private-broadcast.ts'
import {
  createRefusalMemory,
  evaluateOpinions,
  type Opinion,
} from '../../../../src/chains/evm/broadcast/second-opinion.ts'
import { createGasLimits, createPriceBounds } from '../../../../src/chains/evm/prepare/node-limits.ts'
import type { PooledClient, RpcReply } from '../../../../src/chains/rpc/rpc.ts'
import { SETTLE_MS } from '../../../../src/chains/simulations.ts'
import { systemClock } from '../../../../src/lib/time.ts'

const RESTS: RpcReply = {
  kind: 'unknown',
  detail: 'the endpoint is paused after failures and was not used (down)',
}
const FAILS: RpcReply = { kind: 'error', code: -32000, message: 'internal error' }
const TAKES: RpcReply = { kind: 'result', result: '0x1' }
const HEIGHT: RpcReply = { kind: 'result', result: '0x64' }

/** Broadcasts bytes to an endpoint that answers `first`, and asks all endpoints then. */
async function broadcast(first: RpcReply, all: readonly RpcReply[]) {
  const client: Pick<PooledClient, 'broadcast' | 'sendEverywhere' | 'states'> = {
    broadcast: () => Promise.resolve([{ reply: first, behind: false }]),
    sendEverywhere: () =>
      Promise.resolve(
        all.map((reply) => [
          { reply: reply === RESTS ? RESTS : HEIGHT, behind: reply === RESTS },
          { reply, behind: reply === RESTS },
        ]),
      ),
    states: () => [],
  }
  const context = {
    client: client as PooledClient,
    clock: systemClock,
    bounds: createPriceBounds(systemClock),
    gasLimits: createGasLimits(systemClock),
    refusals: createRefusalMemory(),
    unknownTexts: { saw: () => undefined },
  }
  return (await broadcastAll(context, [Uint8Array.of(1)]))[0]
}

describe('a refusal that looks like a failure of the endpoint, which rests then', () => {
  test('remains the answer of the only endpoint, so that the content is compared one day', async () => {
    expect(await broadcast(FAILS, [RESTS])).toEqual({ kind: 'unclear', detail: 'internal error' })
  })

  test('remains in doubt when the other endpoint is silent, because it may have the bytes', async () => {
    expect(await broadcast(FAILS, [RESTS, RESTS])).toMatchObject({ kind: 'unclear', unanswered: true })
  })

  test('counts for nothing when another endpoint takes the bytes', async () => {
    expect(await broadcast(FAILS, [RESTS, TAKES])).toMatchObject({ kind: 'accepted' })
  })
})

/** `node-texts.test.ts` has the texts of all nodes. */
const errorOf = (message: string, code = -32000) => ({ kind: 'error', code, message }) as const

describe('readBroadcast', () => {
  test('a result is accepted, and an answer that never came is unknown, never a no (I6)', () => {
    expect(readBroadcast({ kind: 'result', result: '0x5f' })).toEqual({ kind: 'accepted' })
    expect(readBroadcast({ kind: 'unknown', detail: 'time-out' })).toEqual({
      kind: 'unknown',
      detail: 'time-out',
    })
  })

  test('the words of the node are kept for the reader', () => {
    expect(readBroadcast(errorOf('nonce too low'))).toEqual({ kind: 'nonce_used', detail: 'nonce too low' })
  })
})

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
      name: 'one refuses permanently, another in unknown words',
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
  ])('whether an endpoint may have taken it: $name', ({ of, endpoints, want }) => {
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
  test('keeps the first block, through silence, until an endpoint at the head disagrees', () => {
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

const of = (result: BroadcastResult, unanswered = false): PrivateOpinion => ({
  host: 'a',
  result,
  unanswered,
})
const detail = 'said so'
const named = 'private endpoint a: said so'

test.each<[string, PrivateOpinion[], BroadcastResult]>([
  ['one has it', [of({ kind: 'refused', detail }), of({ kind: 'accepted' })], { kind: 'accepted' }],
  ['one knows it: others may not', [of({ kind: 'accepted', known: true })], { kind: 'accepted' }],
  [
    'the nonce is used',
    [of({ kind: 'later', detail }), of({ kind: 'nonce_used', detail })],
    { kind: 'nonce_used', detail: named },
  ],
  ['the price is too low', [of({ kind: 'too_cheap', detail })], { kind: 'too_cheap', detail: named }],
  [
    'another one may have it',
    [of({ kind: 'underpriced', detail }), of({ kind: 'unknown', detail: 'silent' })],
    { kind: 'underpriced', detail: named, unanswered: true },
  ],
  [
    'it may have it from before',
    [of({ kind: 'underpriced', detail }, true)],
    { kind: 'underpriced', detail: named, unanswered: true },
  ],
  ['all refuse it permanently', [of({ kind: 'refused', detail })], { kind: 'unclear', detail: named }],
  ['all refuse its gas', [of({ kind: 'gas_limit', detail })], { kind: 'unclear', detail: named }],
  ['all refuse it in unknown words', [of({ kind: 'unclear', detail })], { kind: 'unclear', detail: named }],
  [
    'one refuses it, and another one may have it',
    [of({ kind: 'refused', detail }), of({ kind: 'unknown', detail: 'silent' })],
    { kind: 'unclear', detail: named, unanswered: true },
  ],
  [
    'one refuses it, and another one wants it later',
    [of({ kind: 'refused', detail: 'no' }), of({ kind: 'later', detail })],
    { kind: 'later', detail: named },
  ],
  ['nobody answers', [of({ kind: 'unknown', detail })], { kind: 'unknown', detail: named }],
  ['no one is there', [], { kind: 'unknown', detail: 'no private endpoint was asked' }],
])('the answers of private endpoints become one when %s', (_name, opinions, expected) => {
  expect(evaluatePrivateOpinions(opinions)).toEqual(expected)
})
