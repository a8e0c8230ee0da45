import { describe, expect, test } from 'vitest'
import { loadContract, type Node, resolveReference } from '../../src/contract/document.ts'
import { createValidator } from '../../src/contract/validator.ts'

const contract = await loadContract()
const validator = createValidator(contract)

/** A transaction of each kind, as the examples of the document show it. */
const SHOWN = new Map(
  examplesOf('Transaction').map((body) => [(body.data as { network_type: string }).network_type, body]),
)

/** Fields that only transactions on another kind of network have. */
const ELSEWHERE: [kind: string, field: string, value: unknown][] = [
  ['evm', 'sequence_number', '1'],
  ['evm', 'instructions', []],
  ['stellar', 'gas_limit', 21_000],
  ['stellar', 'last_valid_block_height', 1],
  ['solana', 'nonce', 1],
  ['solana', 'transaction_xdr', 'AAAA'],
]

function mismatch(body: unknown): string | undefined {
  return validator.response('getTransactionById', { status: 200, mediaType: 'application/json', body })
}

describe('a transaction in an answer', () => {
  test.each(ELSEWHERE)('on %s has no %s', (kind, field, value) => {
    const body = SHOWN.get(kind) ?? {}
    expect(mismatch(body)).toBeUndefined()
    expect(mismatch({ ...body, data: { ...(body.data as Node), [field]: value } })).toMatch(
      new RegExp(`^response\\.data\\.${field}: there is no such field here.*; known are id, relayer_id,`),
    )
  })

  test('says its network_type, and one that exists', () => {
    const body = SHOWN.get('evm') ?? {}
    const { network_type: _, ...without } = body.data as Node
    const names = 'expected one of evm, stellar, solana'
    expect(mismatch({ ...body, data: without })).toBe(`response.data.network_type: ${names}`)
    expect(mismatch({ ...body, data: { ...without, network_type: 'sui' } })).toBe(
      `response.data.network_type: ${names}`,
    )
  })
})

function examplesOf(response: string): Node[] {
  const $ref = `#/components/responses/${response}/content/application~1json`
  const { examples } = resolveReference(contract.document, { $ref })
  return Object.values(examples as Record<string, Node>).map(({ value }) => plain(value) as Node)
}

/** As the wire carries it: small integers are numbers. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
}
