import { describe, expect, test } from 'vitest'
import { loadContract, type Node, resolveReference } from '../../src/contract/document.ts'
import { explain } from '../../src/contract/explain.ts'
import { createSchemaCompiler } from '../../src/contract/schemas.ts'
import { createValidator } from '../../src/contract/validator.ts'

const compiler = createSchemaCompiler(await loadContract(), { normalise: true })

const FORMATS: [format: string, good: string, bad: string][] = [
  ['date-time', '2030-01-01T00:00:00Z', '2030-02-30T00:00:00Z'],
  ['date-time', '2030-01-01T00:00:00+01:00', '2016-12-31T23:59:60Z'],
  ['uri', 'https://example.com/hook', 'example'],
  ['uuid', '7b6e1f0a-0f4e-4d43-9a63-1f8f0a3b2c4d', '7b6e1f0a'],
  ['ipv4', '127.0.0.1', '127.0.0.256'],
]

test.each(FORMATS)('the format %s accepts %s and refuses %s', (format, good, bad) => {
  const validate = compiler.compile({ type: 'string', format })
  expect([validate(good), validate(bad)]).toEqual([true, false])
})

test.each([
  ['date-time', 'expected a date and time that exists, as in RFC 3339, such as 2030-01-01T00:00:00Z'],
  ['uuid', 'expected text in the format uuid'],
])('a value that breaks the format %s is explained', (format, expected) => {
  const validate = compiler.compile({ type: 'string', format })
  validate('x')
  expect(explain(validate.errors ?? [], 'body', compiler)).toEqual({ path: 'body', expected })
})

test('an unknown format is an error of the contract', () => {
  expect(() => compiler.compile({ type: 'string', format: 'colour' })).toThrow('unknown format')
})

test.each([
  ['a kind that a field declares', { network: 'testnet', operations: [{ type: 'payment', colour: 1 }] }],
  ['the kind that it resembles most', { value: 'x' }],
])('%s is compiled for the first refusal alone', async (_, body) => {
  const { operations } = await loadContract()
  const schema = operations.find(({ id }) => id === 'sendTransaction')?.body?.schema ?? {}
  const validate = compiler.compile(schema)
  const explainOnce = () => {
    const used: unknown[] = []
    const compile = (part: Node) => {
      const validator = compiler.compile(part)
      used.push(validator)
      return validator
    }
    validate(structuredClone(body))
    explain(validate.errors ?? [], 'body', { ...compiler, compile })
    return used
  }
  const first = explainOnce()
  const second = explainOnce()
  expect(first.length).toBeGreaterThan(0)
  expect(second.map((validator, at) => validator === first[at])).toEqual(first.map(() => true))
})

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
