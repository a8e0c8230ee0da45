import { OpenAPIBackend, OpenAPIRouter } from 'openapi-backend'
import { describe, expect, test } from 'vitest'
import { isCollection, isScalar, parse, parseDocument, visit } from 'yaml'
import { loadContract } from '../../src/contract/document.ts'
import { assertHandlers, type HandlerMap } from '../../src/contract/handler.ts'
import { ContractRouter, createBackend, routingDefinition } from '../../src/contract/router.ts'

const contract = await loadContract()
const definition = routingDefinition(contract)
const router = new ContractRouter(definition)

test('a path of many slashes takes linear time', () => {
  const start = performance.now()
  expect(router.allowedMethods(`/${'/'.repeat(200_000)}x/`)).toEqual([])
  expect(performance.now() - start).toBeLessThan(500)
})

test('a handler for an unknown operation is refused', async () => {
  const { backend } = await createBackend(contract)
  expect(() => backend.register('teleport', () => {})).toThrow('teleport')
})

test('openapi-backend calls the handler of the operation with the decoded path parameters', async () => {
  const { backend } = await createBackend(contract)
  backend.register('signMessage', ({ request }, caller) => ({ params: request.params, caller }))
  const request = { method: 'POST', path: '/api/v1/relayers/a%20b/sign/', headers: {} }
  expect(await backend.handleRequest(request, 'caller')).toEqual({
    params: { relayer_id: 'a b' },
    caller: 'caller',
  })
})

describe('our dispatcher calls the handlers that openapi-backend calls', () => {
  const cases = [
    ['GET', '/api/v1/relayers'],
    ['HEAD', '/api/v1/relayers/'],
    ['POST', '/api/v1/relayers/a%20b/sign'],
    ['GET', '/api/v1/relayers/a%2Fb'],
    ['GET', '/api/v1/relayers/%zz'],
    ['PATCH', '/api/v1/relayers/a/sign'],
    ['GET', '/api/v1/relayers/a/sign/more'],
    ['GET', '/'],
  ] as const

  test.each(cases)('%s %s', async (method, path) => {
    const answers = await Promise.all(
      [(await createBackend(contract)).backend, await originalBackend()].map((backend) => {
        const handlers = [...contract.operations.map(({ id }) => id), 'notFound', 'methodNotAllowed']
        for (const name of handlers)
          backend.register(name, ({ operation, request }, caller) => ({
            name,
            operation: operation?.operationId,
            params: request.params,
            caller,
          }))
        return backend.handleRequest({ method, path, headers: {} }, 'caller')
      }),
    )
    expect(answers[0]).toEqual(answers[1])
  })

  test.each([
    [
      'at once',
      () => {
        throw new Error('broken')
      },
    ],
    ['later', () => Promise.reject(new Error('broken'))],
  ])('a handler that fails %s rejects', async (_, handler) => {
    const { backend } = await createBackend(contract)
    backend.register('listRelayers', handler)
    const request = { method: 'GET', path: '/api/v1/relayers', headers: {} }
    await expect(backend.handleRequest(request)).rejects.toThrow('broken')
  })
})

/** openapi-backend as it is, with our router alone. */
async function originalBackend(): Promise<OpenAPIBackend> {
  const backend = new OpenAPIBackend({ definition, quick: true, strict: true, validate: false })
  await backend.init()
  backend.router = router
  return backend
}

describe('our router decides like the router of openapi-backend', () => {
  const original = new OpenAPIRouter({ definition })
  const paths = [
    ...contract.operations.map(({ path }) => path.replaceAll(/\{[^}]+\}/g, 'x-1')),
    '/api/v1',
    '/api/v1/relayers/x/y',
  ]
  const cases = [...new Set(paths)].flatMap((path) =>
    ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'].map((method) => [method, path] as const),
  )

  test.each(cases)('%s %s', (method, path) => {
    const decide = (candidate: OpenAPIRouter) => {
      try {
        return candidate.matchOperation({ method, path, headers: {} }, true).operationId
      } catch (error) {
        return (error as Error).message.slice(0, 3)
      }
    }
    expect(decide(router)).toBe(decide(original))
    expect(decide(router)).toBeDefined()
  })
})

describe('the check of the handlers', async () => {
  const contract = await loadContract()
  const ids = contract.operations.map(({ id }) => id)
  const handlersFor = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, async () => ({})])) as unknown as HandlerMap

  test('one handler for each operation is complete', () => {
    expect(() => assertHandlers(contract, handlersFor(ids))).not.toThrow()
  })

  test.each(ids)('a missing handler for %s is an error', (id) => {
    const handlers = handlersFor(ids.filter((other) => other !== id))
    expect(() => assertHandlers(contract, handlers)).toThrow(`No handler for ${id}`)
  })

  test('a handler without an operation is an error', () => {
    expect(() => assertHandlers(contract, handlersFor([...ids, 'teleport']))).toThrow('teleport')
  })
})

const { yaml } = await loadContract()

test('openapi.yaml means the same in YAML 1.1, which has more booleans, numbers and times', () => {
  expect(parse(yaml, { version: '1.1', intAsBigInt: true })).toEqual(parse(yaml, { intAsBigInt: true }))
})

test('openapi.yaml has no plain text in braces that readers of YAML 1.1 end at a question mark', () => {
  const ended: string[] = []
  visit(parseDocument(yaml), (_key, node, path) => {
    if (!isScalar(node) || node.type !== 'PLAIN' || typeof node.value !== 'string') return
    if (path.some((parent) => isCollection(parent) && parent.flow) && node.value.includes('?'))
      ended.push(node.value)
  })
  expect(ended).toEqual([])
})
