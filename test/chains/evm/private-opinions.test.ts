import { expect, test } from 'vitest'
import type { BroadcastResult } from '../../../src/chains/answer.ts'
import {
  evaluatePrivateOpinions,
  type PrivateOpinion,
} from '../../../src/chains/evm/broadcast/private-broadcast.ts'

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
  ['all refuse it for good', [of({ kind: 'refused', detail })], { kind: 'unclear', detail: named }],
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
  ['nobody is there', [], { kind: 'unknown', detail: 'no private endpoint was asked' }],
])('when %s', (_name, opinions, expected) => {
  expect(evaluatePrivateOpinions(opinions)).toEqual(expected)
})
