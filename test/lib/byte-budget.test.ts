import { expect, test } from 'vitest'
import { AnswerTooLargeError, createByteBudget } from '../../src/lib/http/byte-budget.ts'

test('large answers share the budget, small ones are free, and a closed share gives everything back', () => {
  const budget = createByteBudget({ bytes: 100, freeBytes: 10 })
  const [first, second, small] = [budget.open(), budget.open(), budget.open()]
  first.take(6)
  first.take(74)
  second.take(40)
  expect(budget.used).toBe(100)
  expect(() => second.take(1)).toThrow(AnswerTooLargeError)
  expect(() => small.take(10)).not.toThrow()
  second.close()
  second.close()
  expect(budget.used).toBe(70)
  first.close()
  small.close()
  expect(budget.used).toBe(0)
})
