import { expect, test } from 'vitest'
import { formatRecord, formatTable } from '../../src/cli/api/api-command.ts'

const HUGE = 2n ** 64n + 1n

test('a record shows every digit of an integer, at its top and inside of lists and objects', () => {
  expect(
    formatRecord({ id: 'a', nonce: HUGE, absent: undefined, attempts: [{ fee: HUGE, small: 7n }] }),
  ).toEqual([
    'id:       a',
    'nonce:    18446744073709551617',
    'attempts: [{"fee":18446744073709551617,"small":7}]',
  ])
})

test('a table aligns its columns, leaves absent values empty, and shortens long ones', () => {
  const lines = formatTable(
    ['ID', 'VALUE'],
    [
      ['a', HUGE],
      ['longer', undefined],
      ['b', 'x'.repeat(100)],
    ],
  )
  expect(lines).toEqual([
    'ID      VALUE',
    'a       18446744073709551617',
    'longer',
    `b       ${'x'.repeat(87)}…`,
  ])
})
