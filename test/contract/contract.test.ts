import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { generateFiles } from '../../scripts/generate.ts'
import {
  type ContractOperation,
  loadContract,
  type Node,
  resolveReference,
} from '../../src/contract/document.ts'
import { parseJson } from '../../src/contract/exact-integers.ts'
import { createSchemaCompiler } from '../../src/contract/schemas.ts'

const contract = await loadContract()
const { document, operations } = contract

/** The failures of the four operations of the interface, with the status of each message. */
const FAILURES_OF_INTERFACE = [
  ['replaceTransaction', [400, 401, 404, 429, 500]],
  ['signMessage', [400, 401, 404, 429, 500]],
  ['listNotifications', [400, 401, 500]],
  ['listRelayers', [400, 401, 429, 500]],
] as const

describe('openapi.yaml', () => {
  test.each(FAILURES_OF_INTERFACE)('%s declares exactly the failures of the interface', (id, failures) => {
    const { responses } = operations.find((operation) => operation.id === id) ?? {}
    expect([...(responses?.keys() ?? [])].sort()).toEqual([200, ...failures])
  })

  test('asks for a credential everywhere but for health and readiness', () => {
    expect(operations.filter(({ secured }) => !secured).map(({ id }) => id)).toEqual([
      'getHealth',
      'getReadiness',
    ])
  })

  test('declares the headers of the rate limit for the success of each operation that it counts, and of no other', () => {
    const declaring = Object.values(document.paths as Node).flatMap((item) =>
      Object.values(item as Node).flatMap((node) => {
        const { operationId, responses } = node as { operationId?: string; responses?: Node }
        const [success] = Object.entries(responses ?? {}).filter(([status]) => status.startsWith('2'))
        const { headers = {} } = success ? resolveReference(document, success[1] as Node) : {}
        return ['RateLimit', 'RateLimit-Policy'].every((name) => name in (headers as Node))
          ? [operationId]
          : []
      }),
    )
    const counted = operations.filter(({ rateLimited }) => rateLimited).map(({ id }) => id)
    expect(declaring.sort()).toEqual(counted.sort())
  })

  test.each(operations.map(({ id, path }) => [id, path]))(
    '%s: the path %s has no slash at its end',
    (_id, path) => {
      expect(path).toMatch(/^\/api\/v1\/.*[^/]$/)
    },
  )

  test('every answer carries X-Request-Id', () => {
    for (const response of responsesOf(document)) expect(response.headers).toHaveProperty('X-Request-Id')
  })

  test('webhooks ask for no credential of ours', () => {
    for (const { post } of Object.values(document.webhooks as Record<string, { post: Node }>))
      expect(post.security).toEqual([])
  })

  test('every title is another one, because generators name types after them', () => {
    const titles = contract.yaml.match(/^ {6}title: .*$/gm) ?? []
    expect(new Set(titles).size).toBe(titles.length)
  })

  test('every code is explained', () => {
    const { enum: codes, description } = schema('ErrorCode') as { enum: string[]; description: string }
    for (const code of codes) expect(description).toContain(`| \`${code}\` |`)
  })

  test('every status is explained', () => {
    const { enum: statuses, description } = schema('TransactionStatus') as {
      enum: string[]
      description: string
    }
    for (const status of statuses) expect(description).toContain(`- \`${status}\`:`)
  })

  test('every property is described, where it stands or where it refers to', () => {
    const bare = Object.entries((document.components as { schemas: Record<string, Node> }).schemas).flatMap(
      ([name, node]) => undescribed(node, name),
    )
    expect(bare).toEqual([])
  })

  test('no line is longer than a screen', () => {
    expect(contract.yaml.split('\n').filter((line) => line.length > 150)).toEqual([])
  })

  test('is frozen, so that no request can change it', () => {
    expect(() => {
      Object.assign(document.info as object, { title: 'x' })
    }).toThrow(TypeError)
  })

  test('bounds beyond 2^53 are exact, in the document and in its JSON', () => {
    expect(schema('U128').maximum).toBe(2n ** 128n - 1n)
    expect(contract.json).toContain('340282366920938463463374607431768211455')
    expect(parseJson(contract.json, { maxDepth: 100 })).toEqual(parseJson(contract.json, { maxDepth: 100 }))
  })
})

describe('decimal string patterns are exactly the range', () => {
  test.each(['U128', 'Int64', 'Uint64', 'SignedInt64'])('%s', (name) => {
    const { pattern, minimum, maximum } = schema(name) as {
      pattern: string
      minimum: bigint
      maximum: bigint
    }
    const matches = new RegExp(pattern)
    const near = (edge: bigint) => Array.from({ length: 2001 }, (_, index) => edge - 1000n + BigInt(index))
    const powers = Array.from({ length: 45 }, (_, index) => 10n ** BigInt(index)).flatMap((power) => [
      power - 1n,
      power,
      -power,
      1n - power,
    ])
    const digits = String(maximum)
    const beside = Array.from(digits).flatMap((_digit, place) =>
      Array.from({ length: 10 }, (_, digit) => `${digits.slice(0, place)}${digit}`).flatMap((start) => [
        BigInt(start.padEnd(digits.length, '0')),
        BigInt(start.padEnd(digits.length, '9')),
      ]),
    )
    for (const value of [...near(minimum), ...near(maximum), ...powers, ...beside]) {
      expect([value, matches.test(String(value))]).toEqual([value, value >= minimum && value <= maximum])
    }
    for (const text of ['', '-0', '00', '01', '+1', ' 1', '1.0', '1e3'])
      expect([text, matches.test(text)]).toEqual([text, false])
  })
})

describe('examples', () => {
  const compiler = createSchemaCompiler(contract, { normalise: false })
  const media = operations.flatMap((operation) => mediaOf(operation))

  test.each(
    media.flatMap(({ where, node }) =>
      Object.keys(node.examples as Node).map((name) => [where, name, node] as const),
    ),
  )('%s: %s is valid', (_where, name, node) => {
    const example = (node.examples as Record<string, Node>)[name]
    const validate = compiler.compile(node.schema as Node)
    expect(validate(plain(example?.value))).toBe(true)
  })

  test.each(['evm', 'stellar', 'solana'])('there is a transaction on %s among them', (kind) => {
    const answer = media.find(({ where }) => where === 'getTransactionById 200')
    const shown = Object.values((answer?.node.examples ?? {}) as Record<string, Node>).map(
      ({ value }) => (value as { data: Node }).data.network_type,
    )
    expect(shown).toContain(kind)
  })

  const webhooks = Object.entries(document.webhooks as Record<string, Node>)

  test.each(webhooks)('webhook %s: each is valid', (_event, { post }) => {
    const { content } = (post as Node).requestBody as { content: Record<string, Node> }
    const { schema: body, examples } = content['application/json'] as { schema: Node; examples: Node }
    const validate = compiler.compile(body)
    for (const example of Object.values(examples)) expect(validate(plain((example as Node).value))).toBe(true)
  })

  test('every body has at least one', () => {
    for (const { where, node } of media)
      expect([where, Object.keys(node.examples as Node).length > 0]).toEqual([where, true])
  })
})

test('the generated files of the service and of its client are current', async () => {
  for (const [path, wanted] of await generateFiles())
    expect(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')).toBe(wanted)
})

function schema(name: string): Node {
  return ((document.components as Node).schemas as Record<string, Node>)[name] ?? {}
}

/** The paths of properties that neither say nor refer to what they are. A constant is described by its value. */
function undescribed(node: unknown, path: string): string[] {
  if (typeof node !== 'object' || node === null || path.endsWith('/not')) return []
  const { properties = {} } = node as { properties?: Record<string, Node> }
  const bare = Object.entries(properties).filter(([, property]) => !isDescribed(property))
  const inner = Object.entries(node).flatMap(([key, value]) => undescribed(value, `${path}/${key}`))
  return [...bare.map(([name]) => `${path}.${name}`), ...inner]
}

function isDescribed(property: Node): boolean {
  const { description, $ref: reference, const: constant, oneOf } = property as { oneOf?: Node[] } & Node
  if (description !== undefined || constant !== undefined) return true
  if (reference !== undefined) return isDescribed(resolveReference(document, property))
  return oneOf?.some(isDescribed) ?? false
}

function operationNode({ path, method }: ContractOperation): Node {
  return ((document.paths as Record<string, Node>)[path] as Node)[method.toLowerCase()] as Node
}

function responsesOf(root: Node): Node[] {
  return operations.flatMap((operation) =>
    Object.values(operationNode(operation).responses as Node).map((response) =>
      resolveReference(root, response as Node),
    ),
  )
}

function mediaOf(operation: ContractOperation): { where: string; node: Node }[] {
  const { requestBody, responses } = operationNode(operation) as {
    requestBody?: Node
    responses: Record<string, Node>
  }
  const answers = Object.entries(responses).map(([status, response]) => ({
    place: status,
    body: resolveReference(document, response),
  }))
  const bodies = [...answers, ...(requestBody ? [{ place: 'request', body: requestBody }] : [])]
  return bodies.flatMap(({ place, body }) =>
    Object.values(body.content as Record<string, Node>).map((node) => ({
      where: `${operation.id} ${place}`,
      node,
    })),
  )
}

/** Converts small integers to numbers, as JSON.parse would read them. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
}
