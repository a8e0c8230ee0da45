import { expect, test } from 'vitest'
import { openAttempts, reservation, unprovenAttempts } from '../../../src/transactions/model/attempts.ts'
import { itemOf } from '../build.ts'

const OUTCOMES = ['signed', 'broadcast', 'refused', 'mined', 'reverted', 'superseded', 'expired'] as const
const { attempts } = itemOf(OUTCOMES.map((outcome) => ({ outcome })))

test('the chain can still include what was signed or broadcast', () => {
  expect(openAttempts(attempts).map(({ outcome }) => outcome)).toEqual(['signed', 'broadcast'])
})

test('nothing is proved about these, nor about what one node refused', () => {
  expect(unprovenAttempts(attempts).map(({ outcome }) => outcome)).toEqual(['signed', 'broadcast', 'refused'])
})

test('the most expensive draft is reserved, and nothing without drafts', () => {
  const drafts = attempts.slice(0, 3).map(({ draft }) => draft)
  const costs = [5n, 9n, 7n]
  expect(reservation(drafts, () => costs.shift() ?? 0n)).toBe(9n)
  expect(reservation([], () => 1n)).toBe(0n)
})
