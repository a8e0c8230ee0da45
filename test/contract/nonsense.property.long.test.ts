import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ContractOperation,
  loadContract,
  type Node,
  resolveReference,
} from '../../src/contract/document.ts'
import { sentence } from '../../src/contract/explain.ts'
import { createValidator, type RawInput } from '../../src/contract/validator.ts'

const contract = await loadContract()
const validator = createValidator(contract)

/** The deepest nesting of values that follow a schema; below it they follow none. */
const DEPTH = 5

/** The longest sentence that a person reads. The longest list of known fields is that of the policies. */
const MOST_CHARACTERS = 1_500

/** Values that fit hardly anything, names of the contract's own fields among their keys. */
const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, '', '0x', -1, 1.5, 2n ** 300n, [], {}, [[]], true),
  fc.dictionary(
    fc.constantFrom('value', 'type', '__proto__', 'x~1/y', 'ä b', 'n'.repeat(5_000)),
    fc.jsonValue(),
  ),
)

/** Values that resemble what the schema declares, with faults anywhere. */
function nearly(schema: Node, depth = 0): fc.Arbitrary<unknown> {
  if (depth > DEPTH) return anything
  const node = resolveReference(contract.document, schema)
  return fc.oneof({ arbitrary: anything, weight: 1 }, { arbitrary: resembling(node, depth + 1), weight: 6 })
}

function resembling(node: Node, depth: number): fc.Arbitrary<unknown> {
  const { oneOf, allOf, enum: several, const: only, pattern, type } = node
  if (Array.isArray(oneOf)) return fc.oneof(...oneOf.map((one: Node) => nearly(one, depth)))
  if (Array.isArray(allOf)) return fc.oneof(...allOf.map((one: Node) => nearly(one, depth)))
  if (only !== undefined) return fc.constant(only)
  if (Array.isArray(several)) return fc.constantFrom(...several)
  const [first = 'string'] = [type].flat()
  if (first === 'object') return objects(node, depth)
  if (first === 'array') return fc.array(nearly((node.items ?? {}) as Node, depth), { maxLength: 3 })
  if (first === 'boolean') return fc.boolean()
  if (first === 'integer') return fc.oneof(fc.integer(), fc.bigInt(), fc.bigInt().map(String))
  return typeof pattern === 'string' && pattern.length < 100
    ? fc.stringMatching(new RegExp(pattern))
    : fc.string({ maxLength: 60 })
}

function objects({ properties = {}, additionalProperties }: Node, depth: number): fc.Arbitrary<unknown> {
  const known = Object.entries(properties as Record<string, Node>).map(
    ([name, node]) => [name, nearly(node, depth)] as const,
  )
  const others =
    typeof additionalProperties === 'object' ? nearly(additionalProperties as Node, depth) : anything
  return fc
    .tuple(
      fc.record(Object.fromEntries(known), { requiredKeys: [] }),
      fc.dictionary(fc.string({ maxLength: 8 }), others, { maxKeys: 1 }),
    )
    .map(([fields, more]) => ({ ...fields, ...more }))
}

function pathOf({ parameters }: ContractOperation): Record<string, string> {
  const names = parameters.filter((one) => one.in === 'path').map(({ name }) => name)
  return Object.fromEntries(names.map((name) => [name, name === 'address' ? `0x${'0'.repeat(40)}` : '1']))
}

/** Names the key, which may be any text of a caller, and then in words what is expected there. */
const NAMED =
  /^(body|query|header|path).*?: (expected \S.*|is required|there is no such .+|was given more than once|this operation takes no query parameters)\.$/s

/** What a sentence says when the code knows no words for the fault. */
const WORDLESS = /something else|another (value|name)|does not fit|undefined|\[object|NaN|expected expected/

function isTold(text: string, given: string): boolean {
  // A caller's own words are no words of the service.
  const own = text.replace(/^.*?: /s, '')
  return NAMED.test(text) && (!WORDLESS.test(own) || WORDLESS.test(given)) && text.length <= MOST_CHARACTERS
}

/** The sentence of a refusal; undefined for input that the contract takes. */
function refusalOf(operation: ContractOperation, input: Partial<RawInput>): string | undefined {
  const complete = { path: pathOf(operation), querystring: '', body: undefined, ...input }
  const result = validator.request(operation.id, complete)
  return result.kind === 'invalid' ? sentence(result.problem) : undefined
}

const named = contract.operations.map((operation) => [operation.id, operation] as const)

test.each(named.filter(([, { body }]) => body !== undefined))(
  '%s tells of any body which key is wrong, and what is expected there',
  (_id, operation) => {
    fc.assert(
      fc.property(nearly(operation.body?.schema ?? {}), (body) => {
        const told = refusalOf(operation, { body })
        if (told !== undefined && !isTold(told, jsonOf(body))) expect.fail(told)
      }),
      { numRuns: 150 },
    )
  },
)

function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner)) ?? ''
}

test.each(named)(
  '%s tells of any query which parameter is wrong, and what is expected there',
  (_id, operation) => {
    const names = operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name)
    const name = fc.oneof(fc.constantFrom('colour', ...names), fc.stringMatching(/^[a-z_]{1,12}$/))
    const queries = fc.array(fc.tuple(name, fc.string({ maxLength: 40 })), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(queries, (pairs) => {
        const querystring = new URLSearchParams(pairs).toString()
        const told = refusalOf(operation, { querystring, body: {} })
        if (told !== undefined && !isTold(told, pairs.flat().join())) expect.fail(told)
      }),
      { numRuns: 40 },
    )
  },
)
