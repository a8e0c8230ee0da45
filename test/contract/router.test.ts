import { OpenAPIRouter } from 'openapi-backend'
import { describe, expect, test } from 'vitest'
import { isCollection, isScalar, parse, parseDocument, visit } from 'yaml'
import { loadContract } from '../../src/contract/document.ts'
import { ContractRouter, createBackend } from '../../src/contract/router.ts'
import { assertHandlers, type HandlerMap } from '../../src/http/handler.ts'

const contract = await loadContract()
const router = new ContractRouter(contract)

test('a path of many slashes takes linear time', () => {
  const start = performance.now()
  expect(router.allowedMethods(`/${'/'.repeat(200_000)}x/`)).toEqual([])
  expect(performance.now() - start).toBeLessThan(500)
})

test('a handler for an unknown operation is refused', async () => {
  const backend = await createBackend(router)
  expect(() => backend.register('teleport', () => {})).toThrow('teleport')
})

describe('openapi-backend calls', () => {
  test.each([
    ['GET', '/api/v1/relayers', 'listRelayers', {}],
    ['HEAD', '/api/v1/relayers/', 'listRelayers', {}],
    ['POST', '/api/v1/relayers/a%20b/sign', 'signMessage', { relayer_id: 'a b' }],
    ['GET', '/api/v1/relayers/a%2Fb', 'getRelayer', { relayer_id: 'a/b' }],
    ['GET', '/api/v1/relayers/%zz', 'getRelayer', { relayer_id: '%zz' }],
    ['POST', '/api/v1/plugins/p/call', 'callPlugin', { plugin_id: 'p' }],
    ['POST', '/api/v1/plugins/p/call/', 'callPlugin', { plugin_id: 'p' }],
    ['GET', '/api/v1/plugins/p/call/a', 'callPluginRouteGet', { plugin_id: 'p', route: 'a' }],
    ['POST', '/api/v1/plugins/p/call/a/b%2Fc/d/', 'callPluginRoute', { plugin_id: 'p', route: 'a/b/c/d' }],
    ['PUT', '/api/v1/plugins/p/call/a/b', 'methodNotAllowed', {}],
    ['GET', '/api/v1/plugins/p/other/a/b', 'notFound', {}],
    ['PATCH', '/api/v1/relayers/a/sign', 'methodNotAllowed', {}],
    ['GET', '/api/v1/relayers/a/sign/more', 'notFound', {}],
    ['GET', '/', 'notFound', {}],
  ])('for %s %s the handler %s', async (method, path, handler, params) => {
    const backend = await createBackend(router)
    for (const name of [...contract.operations.map(({ id }) => id), 'notFound', 'methodNotAllowed'])
      backend.register(name, ({ request }, caller) => ({ name, params: request.params, caller }))
    expect(await backend.handleRequest({ method, path, headers: {} }, 'caller')).toEqual({
      name: handler,
      params,
      caller: 'caller',
    })
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
    const backend = await createBackend(router)
    backend.register('listRelayers', handler)
    const request = { method: 'GET', path: '/api/v1/relayers', headers: {} }
    await expect(backend.handleRequest(request)).rejects.toThrow('broken')
  })
})

describe('our router decides like the router of openapi-backend', () => {
  const original = new OpenAPIRouter({ definition: router.definition })
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
