import { describe, expect, test } from 'vitest'
import { checkTimes } from '../../../src/transactions/accept/checks.ts'
import { requestOf } from '../../chains/evm/build.ts'

const NOW = Date.parse('2030-01-01T00:00:00.000Z')
const DAY_MS = 86_400_000
const at = (ms: number) => new Date(NOW + ms)

const UNSIGNED = { endsAt: ({ validUntil }: { validUntil?: Date }) => validUntil }
const OF_OTHERS = { ...UNSIGNED, externalSigning: { nonceOf: () => ({ address: 'other', nonce: 1n }) } }
const ONCE = { ...UNSIGNED, expiry: { hasExpired: async () => false, reSignable: () => false } }

describe('the times of a request', () => {
  test.each([
    ['no time', {}, undefined],
    ['the last moment of 30 days', { validFrom: at(30 * DAY_MS) }, undefined],
    ['a moment later', { validFrom: at(30 * DAY_MS + 1) }, 'valid_from'],
    ['an end after the beginning', { validFrom: at(1), validUntil: at(2) }, undefined],
    ['an end at the beginning', { validFrom: at(1), validUntil: at(1) }, 'valid_until'],
    ['an end that has passed', { validUntil: at(0) }, 'valid_until'],
    ['a beginning that has passed', { validFrom: at(-1) }, undefined],
  ])('%s', (_name, times, field) => {
    expect(checkTimes(UNSIGNED, requestOf(times), NOW)?.detail.split(':')[0]).toBe(field)
  })

  test.each([
    ['a moment less than nodes take', { validUntil: at(10_999) }, at(11_000)],
    ['as much as they take', { validUntil: at(11_000) }, undefined],
    ['less, counted from its beginning', { validFrom: at(5_000), validUntil: at(15_999) }, at(16_000)],
    ['as much, counted from its beginning', { validFrom: at(5_000), validUntil: at(16_000) }, undefined],
    [
      'less, counted from now, when its beginning has passed',
      { validFrom: at(-5_000), validUntil: at(9_000) },
      at(11_000),
    ],
  ])('%s', (_name, times, shortest) => {
    const chain = { ...UNSIGNED, expiry: { ...ONCE.expiry, reSignable: () => true, minLifetimeMs: 11_000 } }
    const problem = checkTimes(chain, requestOf(times), NOW)
    expect(problem?.code).toBe(shortest && 'invalid_request')
    expect(problem?.detail).toEqual(
      shortest &&
        expect.stringMatching(
          new RegExp(
            `^valid_until: at least 11 s from (now|valid_from) are expected \\(${shortest.toISOString()}\\)`,
          ),
        ),
    )
  })

  test.each([
    ['a nonce of others', OF_OTHERS],
    ['signatures of others', ONCE],
  ])('content with %s cannot wait', (_name, chain) => {
    expect(checkTimes(chain, requestOf(), NOW)).toBeUndefined()
    expect(checkTimes(chain, requestOf({ validFrom: at(1) }), NOW)?.detail).toContain('valid_from: not')
  })
})
