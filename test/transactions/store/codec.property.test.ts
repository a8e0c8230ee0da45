import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EvmDraft, EvmRequest, Fees } from '../../../src/chains/evm/content.ts'
import {
  decodeDraft,
  decodeRequest,
  decodeSignature,
  encodeDraft,
  encodeRequest,
  encodeSignature,
  type StoredSignature,
} from '../../../src/transactions/store/codec.ts'

const u128 = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n })
const u256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const int64 = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })
const hex = fc.uint8Array({ maxLength: 40 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
const date = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })

const request: fc.Arbitrary<EvmRequest> = fc.record(
  {
    type: fc.constant('evm'),
    to: address,
    value: u128,
    data: hex,
    gasLimit: int64,
    gasPrice: u128,
    maxFeePerGas: u128,
    maxPriorityFeePerGas: u128,
    speed: fc.constantFrom('fastest', 'fast', 'average', 'safeLow'),
    validUntil: date,
  },
  { requiredKeys: ['type', 'value'], noNullPrototype: true },
)

const fees: fc.Arbitrary<Fees> = fc.oneof(
  fc.record({ kind: fc.constant('legacy'), gasPrice: u256 }, { noNullPrototype: true }),
  fc.record(
    { kind: fc.constant('eip1559'), maxFeePerGas: u256, maxPriorityFeePerGas: u256 },
    { noNullPrototype: true },
  ),
)
const draft: fc.Arbitrary<EvmDraft> = fc.record(
  { type: fc.constant('evm'), to: address, value: u256, data: hex, gasLimit: u256, fees },
  { requiredKeys: ['type', 'value', 'data', 'gasLimit', 'fees'], noNullPrototype: true },
)

/** As the database does it: out as JSON text, in through JSON.parse, which knows no bigint. */
const throughJson = (stored: unknown): object => JSON.parse(JSON.stringify(stored))

describe('a value that goes through jsonb (I10)', () => {
  test('comes back exactly as the request that it was', () => {
    fc.assert(
      fc.property(request, (given) => {
        expect(decodeRequest(throughJson(encodeRequest(given)))).toStrictEqual(given)
      }),
    )
  })

  test('comes back exactly as a signature, whose joined form is stored only where it cannot be derived', () => {
    const half = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => Buffer.from(bytes).toString('hex'))
    const parts = fc.record(
      { r: half, s: half, v: fc.constantFrom(0, 1, 27, 28, 62_711) },
      { noNullPrototype: true },
    )
    fc.assert(
      fc.property(parts, fc.boolean(), ({ r, s, v }, isEcdsa) => {
        const signature = { r, s, v, sig: isEcdsa ? `${r}${s}${Buffer.of(v).toString('hex')}` : `${r}${s}` }
        const stored = throughJson(encodeSignature(signature)) as StoredSignature
        expect(decodeSignature(stored)).toStrictEqual(signature)
        expect('sig' in stored).toBe(!isEcdsa || v > 255)
      }),
    )
  })

  test('comes back exactly as the draft that it was', () => {
    fc.assert(
      fc.property(draft, (given) => {
        expect(decodeDraft(throughJson(encodeDraft(given)))).toStrictEqual(given)
      }),
    )
  })

  test.each([0n, 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n, 2n ** 128n - 1n])(
    'comes back exactly as the integer %s that it was',
    (value) => {
      const given = { type: 'evm', value } as const
      expect(decodeRequest(throughJson(encodeRequest(given)))).toStrictEqual(given)
    },
  )
})
