import { expect, test } from 'vitest'
import { decisionsIn } from '../../console/src/pages/relayer/decisions-in.ts'

const entry = {
  relayer_id: 'main',
  transaction_id: 'one',
  status: 'pending',
  seen: 'Block 7.',
  reason: 'seen',
}
const listOf = (...decisions: readonly object[]) => JSON.stringify({ decisions })

test('a list gives the decisions about one relayer, without what is open or to be canceled', () => {
  const text = listOf(
    { ...entry, included: true, hash: '0xab' },
    { ...entry, transaction_id: 'two', included: false },
    { ...entry, transaction_id: 'three', included: null },
    { ...entry, transaction_id: 'four', included: false, cancel: true },
    { ...entry, relayer_id: 'other', included: true },
  )
  expect(decisionsIn(text, 'main')).toEqual([
    { transaction_id: 'one', included: true, hash: '0xab', reason: 'seen' },
    { transaction_id: 'two', included: false, reason: 'seen' },
  ])
})

test.each([
  ['', 'not a list of decisions'],
  ['[]', 'not a list of decisions'],
  ['{"decisions":{}}', 'not a list of decisions'],
  [listOf({ ...entry, included: null }), 'no decision for this relayer'],
])('%s is refused', (text, message) => {
  expect(() => decisionsIn(text, 'main')).toThrow(message)
})
