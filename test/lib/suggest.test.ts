import { describe, expect, test } from 'vitest'
import { suggest } from '../../src/lib/suggest.ts'

describe('suggest', () => {
  test.each([
    ['serv', ' (did you mean "serve"?)'],
    ['sevre', ' (did you mean "serve"?)'],
    ['SERVE', ' (did you mean "serve"?)'],
    ['hleath', ' (did you mean "health"?)'],
    ['halt', ''],
    ['', ''],
  ])('answers %j with %j', (word, meant) => {
    expect(suggest(word, ['serve', 'health', 'migrate'])).toBe(meant)
  })

  test('compares no known word with one of a megabyte, which would take seconds', () => {
    const started = performance.now()
    expect(suggest('x'.repeat(1_000_000), ['value', 'gas_limit', 'max_priority_fee_per_gas'])).toBe('')
    expect(performance.now() - started).toBeLessThan(100)
  })
})
