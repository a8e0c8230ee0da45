import { expect, test } from 'vitest'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { isOverdue } from '../../../src/transactions/watch/watch.ts'
import { itemOf } from '../build.ts'

const PRIVATE = { isPrivate: true, privateSinceBlock: 10n } as const

test.each<[string, Partial<Transaction>, bigint, boolean]>([
  ['has one block left', PRIVATE, 14n, false],
  ['has had its blocks', PRIVATE, 15n, true],
  ['is seen late', PRIVATE, 90n, true],
  ['is public already', { ...PRIVATE, madePublicAt: new Date(0) }, 90n, false],
  ['was never broadcast', { isPrivate: true }, 90n, false],
  ['is not private', { privateSinceBlock: 10n }, 90n, false],
])('a transaction that %s', (_name, change, head, expected) => {
  const { transaction } = itemOf([{}], change)
  expect(isOverdue(transaction, { head, blocks: 5 })).toBe(expected)
})
