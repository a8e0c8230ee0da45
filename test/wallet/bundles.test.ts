import { expect, test } from 'vitest'
import { bundleStatus } from '../../src/wallet/bundles.ts'
import type { ShownTransaction } from '../../src/wallet/sending.ts'

/** A transaction of which the chain includes the last of these attempts. */
function included(kinds: readonly string[], more: object = {}): ShownTransaction {
  const attempts = kinds.map((kind, at) => ({
    kind,
    outcome: at === kinds.length - 1 ? 'mined' : 'superseded',
  }))
  return { status: 'mined', attempts, ...more } as unknown as ShownTransaction
}

const PAID = included(['send'])

test.each([
  ['a call', PAID, 200],
  ['a call whose fee was raised', included(['send', 'speed_up']), 200],
  ['a no-op in place of a call', included(['send', 'cancel'], { no_op: true }), 400],
  ['a no-op whose fee was raised', included(['send', 'cancel', 'speed_up'], { no_op: true }), 400],
])('a bundle of which the chain includes %s has the status of it', (_, item, status) => {
  expect(bundleStatus([item])).toBe(status)
  expect(bundleStatus([PAID, item])).toBe(status === 200 ? 200 : 600)
})
