import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ContractOperation,
  loadContract,
  type Node,
  resolveReference,
} from '../../src/contract/document.ts'
import { parseJson, stringifyJson } from '../../src/contract/exact-integers.ts'
import { FORMATS } from '../../src/contract/formats.ts'
import { prepareValidators } from '../../src/contract/prepare-validators.ts'
import type { PREPARED } from '../../src/contract/prepared-validators.ts'
import { createValidator, type RawInput } from '../../src/contract/validator.ts'
import * as wideInteger from '../../src/contract/wide-integer.ts'

/** What the code may require, besides files of AJV: the files that lie beside the one that it replaces. */
const BESIDE: Readonly<Record<string, unknown>> = {
  './formats.ts': { FORMATS },
  './wide-integer.ts': wideInteger,
}

const contract = await loadContract()
const code = prepareValidators(contract)
const compiled = createValidator(contract, undefined)
const prepared = createValidator(contract, validatorsOf(code))

/** Runs the code as a module of its own. */
function validatorsOf(text: string): typeof PREPARED {
  const load = createRequire(import.meta.url)
  const module: { exports: { PREPARED?: typeof PREPARED } } = { exports: {} }
  const run = new Function('require', 'exports', 'module', text)
  run((name: string) => BESIDE[name] ?? load(name), module.exports, module)
  return module.exports.PREPARED
}

/** Any value, with the names and the words of the contract more often than by chance. */
const words = [
  ...new Set([...(contract.json.match(/"[a-z_0-9]{2,30}"/g) ?? [])].map((word) => JSON.parse(word))),
]
const leaf = fc.oneof(
  fc.constantFrom(...words),
  fc.constantFrom(
    '0x10',
    '0xF',
    '0x',
    '2030-01-01T00:00:00Z',
    '2030-02-30T00:00:00Z',
    'https://example.com/',
    '-1',
    '01',
  ),
  fc.integer(),
  fc.bigInt({ min: -1n, max: 2n ** 129n }),
  fc.bigInt({ min: 0n, max: 2n ** 129n }).map(String),
  fc.boolean(),
  fc.constant(null),
  fc.string(),
)
const { anything } = fc.letrec((tie) => ({
  anything: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie('anything'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...words), tie('anything'), { maxKeys: 4 }),
  ),
}))

/** A change of one place of a value: another value there, nothing, or a field more. */
const change = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom('replace', 'remove', 'add'),
  field: fc.constantFrom(...words),
  value: anything,
})

function changed(
  value: unknown,
  { at, kind, field, value: other }: { at: number; kind: string; field: string; value: unknown },
): unknown {
  if (typeof value !== 'object' || value === null) return kind === 'replace' ? other : value
  const entries = Object.entries(value)
  const [key, inner] = entries[at % Math.max(entries.length, 1)] ?? []
  if (kind === 'add' && !Array.isArray(value)) return { ...value, [field]: other }
  if (key === undefined) return other
  if (at % 3 === 0)
    return { ...value, [key]: changed(inner, { at: Math.floor(at / 3), kind, field, value: other }) }
  if (kind === 'remove') return Object.fromEntries(entries.filter(([name]) => name !== key))
  return Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other }
}

/** The bodies that the contract shows for an operation. */
function examplesOf({ path, method }: ContractOperation): unknown[] {
  const item = (contract.document.paths as Node)[path] as Node
  const operation = item[method.toLowerCase()] as Node
  if (operation.requestBody === undefined) return []
  const { content } = resolveReference(contract.document, operation.requestBody as Node) as { content: Node }
  return Object.values(content).flatMap((media) => {
    const { example, examples = {} } = media as { example?: unknown; examples?: Node }
    const named = Object.values(examples).map((one) => resolveReference(contract.document, one as Node).value)
    return example === undefined ? named : [example, ...named]
  })
}

/** Both validators get a copy, because they write integers into it. */
function outcomes(operation: ContractOperation, input: Omit<RawInput, 'body'>, body: unknown) {
  const copy = () => parseJson(stringifyJson(body ?? null), { maxDepth: 100 })
  return [compiled, prepared].map((validator) => validator.request(operation.id, { ...input, body: copy() }))
}

const QUERIES = [
  '',
  'page=2',
  'page=x',
  'per_page=-1',
  'status=pending',
  'nothing=1',
  'page=1&page=2',
  'dry_run=maybe',
]
const HEADERS = [
  () => undefined,
  () => '',
  () => 'x'.repeat(300),
  (name: string) => (name === 'idempotency-key' ? 'key-1' : undefined),
]

test.each(contract.operations)('$id: prepared validators answer what compiled ones answer', (operation) => {
  const path = (value: string) =>
    Object.fromEntries(
      operation.parameters.filter((one) => one.in === 'path').map(({ name }) => [name, value]),
    )
  const examples = examplesOf(operation)
  const expectSame = (input: Omit<RawInput, 'body'>, body: unknown) => {
    const [one, other] = outcomes(operation, input, body)
    expect(other).toEqual(one)
  }
  for (const querystring of QUERIES)
    for (const header of HEADERS)
      for (const value of ['1', 'main', '', 'a b', '99999999999999999999999999', 'x'.repeat(300)])
        expectSame({ path: path(value), querystring, header }, examples[0])
  for (const body of examples)
    for (const querystring of QUERIES) expectSame({ path: path('1'), querystring }, body)
  fc.assert(
    fc.property(fc.constantFrom(...examples, {}), fc.array(change, { maxLength: 3 }), (body, changes) => {
      expectSame({ path: path('1'), querystring: '' }, changes.reduce<unknown>(changed, body))
    }),
    { numRuns: operation.body === undefined ? 5 : 300 },
  )
})

test('every validator that openapi-backend asks for is prepared', () => {
  const asked: [name: string | symbol, found: boolean][] = []
  const validators = new Proxy(validatorsOf(code) ?? {}, {
    get: (target, name) => {
      asked.push([name, Object.hasOwn(target, name)])
      return Reflect.get(target, name)
    },
  })
  const validator = createValidator(contract, validators)
  for (const { id } of contract.operations)
    validator.request(id, { path: {}, querystring: '', body: undefined })
  expect(asked.length).toBeGreaterThan(contract.operations.length)
  expect(asked.filter(([, found]) => !found)).toEqual([])
})

test('the sources have no prepared validators, so that a change of the contract counts immediately', async () => {
  expect((await import('../../src/contract/prepared-validators.ts')).PREPARED).toBeUndefined()
})
