import { readFile } from 'node:fs/promises'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { VERSIONS } from '../../scripts/clients/versions.ts'
import { codegenDocument } from '../../src/contract/codegen/document.ts'
import { referenceDocument } from '../../src/contract/docs.ts'
import { loadContract, type Node, resolveReference } from '../../src/contract/document.ts'
import { parseJson, stringifyJson } from '../../src/contract/exact-integers.ts'
import { sentence } from '../../src/contract/explain.ts'
import { createValidator } from '../../src/contract/validator.ts'
import { arbitraryOf } from '../support/schema-values.ts'

const contract = await loadContract()
const derived = codegenDocument(contract.document)
const validator = createValidator(contract)
const schemas = (derived.components as { schemas: Readonly<Record<string, Node>> }).schemas

/** The operation of the derived document at the same place. */
function derivedOperation({ path, method }: { path: string; method: string }): Node {
  return ((derived.paths as Record<string, Node>)[path] as Record<string, Node>)[method.toLowerCase()] as Node
}

function propertiesOf(name: string): Readonly<Record<string, Node>> {
  return (schemas[name] as { properties: Readonly<Record<string, Node>> }).properties
}

function schemaOf(media: unknown): Node {
  return Object.values(media as Record<string, Node>)[0]?.schema as Node
}

/** Path parameters that are no number. */
const VALUES: Readonly<Record<string, string>> = { address: `0x${'11'.repeat(20)}` }

describe('the document for code generators', () => {
  test('has every operation of the contract with its parameters and answers', () => {
    for (const operation of contract.operations) {
      const { operationId, responses } = derivedOperation(operation)
      const item = (derived.paths as Record<string, Node>)[operation.path] as Node
      const parameters = [
        item.parameters ?? [],
        derivedOperation(operation).parameters ?? [],
      ].flat() as Node[]
      expect(operationId).toBe(operation.id)
      expect(Object.keys(responses as Node)).toEqual([...operation.responses.keys()].map(String))
      expect(parameters.map(({ name }) => name)).toEqual(operation.parameters.map(({ name }) => name))
    }
  })

  test('is OpenAPI 3.0.3, without the words of 3.1', () => {
    expect(derived.openapi).toBe('3.0.3')
    const words = keysIn(derived)
    for (const word of ['const', 'examples', 'not', 'webhooks', 'propertyNames', 'contentSchema', 'links'])
      expect(words).not.toContain(word)
    expect(stringifyJson(derived)).not.toMatch(/"type":(\[|"null")/)
  })

  test('has one type of a transaction, wherever it is shown', () => {
    const list = schemas.TransactionListResponse?.properties as { data: { items: Node } }
    const single = schemas.TransactionResponse?.properties as { data: Node }
    expect([list.data.items, single.data]).toEqual(
      Array(2).fill({ $ref: '#/components/schemas/Transaction' }),
    )
    expect(Object.keys(schemas).filter((name) => /WithAttempts|TransactionPayload/.test(name))).toEqual([])
  })

  test('has one type of failure, but for what a plugin says itself', () => {
    const failures = contract.operations.flatMap((operation) =>
      Object.entries(derivedOperation(operation).responses as Record<string, Node>)
        .filter(
          ([status]) =>
            Number(status) >= 400 && Number(status) !== 503 && !operation.responses.has('default'),
        )
        .map(([, { content }]) => schemaOf(content).$ref),
    )
    expect(new Set(failures)).toEqual(new Set(['#/components/schemas/Failure']))
  })

  test('writes wide integers so that no digit is lost: requests as text, answers of more than 64 bits as JSON numbers', () => {
    const { value, gas_limit } = propertiesOf('EvmTransactionRequest')
    expect([value?.type, gas_limit?.type, gas_limit?.nullable]).toEqual(['string', 'string', true])
    const { balance } = propertiesOf('RelayerBalance')
    expect(balance?.type).toBe('number')
    const { nonce } = propertiesOf('EvmTransaction')
    expect([nonce?.type, nonce?.format]).toEqual(['integer', 'int64'])
  })

  test('has no pattern of a time, because Go reads it into a type that is no text', () => {
    const { created_at } = propertiesOf('EvmTransaction')
    expect([created_at?.format, created_at?.pattern]).toEqual(['date-time', undefined])
  })
})

describe('an answer of the contract fits the document for code generators', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $defs: forAjv(schemas) as Node }, 'derived')
  const compiled = new Map<string, ValidateFunction>()
  const validatorOf = (schema: Node) => {
    const key = stringifyJson(schema)
    const validate = compiled.get(key) ?? ajv.compile(forAjv(schema) as Node)
    compiled.set(key, validate)
    return validate
  }

  test.each(contract.operations.map((operation) => [operation.id, operation] as const))(
    '%s',
    (id, operation) => {
      for (const [status, response] of Object.entries(
        operationNode(operation).responses as Record<string, Node>,
      )) {
        const derivedResponse = (derivedOperation(operation).responses as Record<string, Node>)[
          status
        ] as Node
        const content = derivedResponse.content as Record<string, Node>
        for (const { mediaType, name, value } of examplesOf(response)) {
          const validate = validatorOf(content[mediaType]?.schema as Node)
          // A program reads the stream of events as text, and a single call has no batch of answers.
          if (status === '200' && (id === 'streamEvents' || (id === 'callRpc' && name === 'batch'))) continue
          expect([name, validate(numbers(value)), validate.errors]).toEqual([name, true, null])
        }
      }
    },
  )
})

/** Conditions that OpenAPI 3.0 cannot express, by what the service answers when a request breaks them. */
const LEFT_TO_THE_SERVICE = [
  /expected either operations or transaction_xdr, not both/,
  /unconditional: expected exactly true/,
  /jsonrpc|body\.id|params/,
  /expected each item once/,
]

describe('a request that fits the document for code generators fits the contract', () => {
  const withBody = contract.operations.filter(({ body }) => body !== undefined)

  test.each(withBody.map((operation) => [operation.id, operation] as const))('%s', (id, operation) => {
    const { content } = derivedOperation(operation).requestBody as Node
    fc.assert(
      fc.property(arbitraryOf(schemaOf(content), schemas), (body) => {
        const result = validator.request(id, {
          path: Object.fromEntries(
            operation.parameters
              .filter((parameter) => parameter.in === 'path')
              .map(({ name }) => [name, VALUES[name] ?? '1']),
          ),
          querystring: '',
          header: () => undefined,
          body: parseJson(JSON.stringify(body)),
        })
        const problem = result.kind === 'invalid' ? sentence(result.problem) : ''
        expect(LEFT_TO_THE_SERVICE.some((left) => left.test(problem)) ? '' : problem).toBe('')
      }),
      { numRuns: 150 },
    )
  })
})

function examplesOf(response: Node): { mediaType: string; name: string; value: unknown }[] {
  const { content } = resolveReference(contract.document, response)
  return Object.entries(content as Record<string, Node>).flatMap(([mediaType, { examples }]) =>
    Object.entries(examples as Record<string, Node>).map(([name, { value }]) => ({ mediaType, name, value })),
  )
}

function operationNode({ path, method }: { path: string; method: string }): Node {
  return ((contract.document.paths as Record<string, Node>)[path] as Record<string, Node>)[
    method.toLowerCase()
  ] as Node
}

function keysIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(keysIn)
  if (typeof node !== 'object' || node === null) return []
  // The names of properties are not words of OpenAPI.
  const { properties = {}, example: _example, ...rest } = node as Node
  return [
    ...Object.values(properties as Node).flatMap(keysIn),
    ...Object.entries(rest).flatMap(([key, value]) => [key, ...keysIn(value)]),
  ]
}

/** Writes `nullable` as AJV understands it, and references to the derived schemas. */
function forAjv(node: unknown): unknown {
  if (typeof node === 'bigint') return Number(node)
  if (Array.isArray(node)) return node.map(forAjv)
  if (typeof node !== 'object' || node === null) return node
  const { nullable, exclusiveMinimum, ...rest } = node as Node
  const plain = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      key === '$ref' ? String(value).replace('#/components/schemas/', 'derived#/$defs/') : forAjv(value),
    ]),
  )
  return nullable === true ? { anyOf: [plain, { type: 'null' }] } : plain
}

function numbers(value: unknown): unknown {
  return JSON.parse(stringifyJson(value))
}

const ROOT = new URL('../../', import.meta.url)
const page = await readFile(new URL('docs/clients-in-any-language.md', ROOT), 'utf8')
const { devDependencies } = JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8'))

/** The names that the page uses where they are not those of the packages. */
const NAMES: Readonly<Record<string, string>> = {
  '@apidevtools/swagger-parser': 'swagger-parser',
  '@redocly/cli': 'Redocly',
  '@stoplight/spectral-cli': 'Spectral',
}

const tools = [
  ...Object.entries(VERSIONS),
  ...['@redocly/cli', 'openapi-fetch', 'openapi-typescript'].map(
    (name) => [name, devDependencies[name]] as const,
  ),
]

test.each(tools)('the page about clients names the version of %s that is checked', (name, version) => {
  const lines = page
    .split('\n')
    .filter((line) => line.includes(NAMES[name] ?? name) && line.includes(version))
  expect(lines).not.toEqual([])
})

/** A package and its version, as a line of the locks writes them: those of npm in JSON, those of PyPI with `==`. */
const LOCKED = new Map(
  (
    await Promise.all(
      [['package.json', /"(.+)": "(\d.+)"/] as const, ['requirements.txt', /^([^#=]+)==(.+)/] as const].map(
        async ([file, line]) =>
          (
            await readFile(new URL(`scripts/clients/locks/${file}`, ROOT), 'utf8')
          )
            .split('\n')
            .flatMap((text) => {
              const [, name, version] = line.exec(text) ?? []
              return name && version ? [[name, version] as const] : []
            }),
      ),
    )
  ).flat(),
)

test.each(Object.entries(VERSIONS).filter(([name]) => !['oapi-codegen', 'openapi-generator'].includes(name)))(
  'the lock of check:clients has %s in the version that the page names',
  (name, version) => {
    expect(LOCKED.get(name)).toBe(version)
  },
)

const { document, json } = await loadContract()
const reference = stringifyJson(referenceDocument(document))

test('the document of the reference page has no bound that a browser rounds', () => {
  const rounded = /"(minimum|maximum)":-?\d{16,}/
  expect(json).toMatch(rounded)
  expect(reference).not.toMatch(rounded)
})

test('the document of the reference page keeps everything else', () => {
  const wide = new Set(['U128', 'Int64', 'Quantity', 'Uint64', 'SignedInt64', 'ExactU128', 'ExactInt64'])
  const schemasOf = (from: Node) => Object.entries((from.components as { schemas: Node }).schemas)
  const others = (from: Node) =>
    schemasOf(from).filter(([name]) => !wide.has(name) && !['RelayerBalance'].includes(name))
  expect(others(referenceDocument(document))).toEqual(others(document))
  expect(referenceDocument(document).paths).toEqual(document.paths)
})
