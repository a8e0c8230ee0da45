import { OpenAPIRouter } from 'openapi-backend'
import { describe, expect, test } from 'vitest'
import { createDispatcher, type Exchange } from '../../src/contract/dispatch.ts'
import { loadContract } from '../../src/contract/document.ts'
import type { HandlerMap } from '../../src/contract/operations.ts'
import { ContractRouter, routingDefinition } from '../../src/contract/router.ts'
import { createValidator } from '../../src/contract/validator.ts'
import { tooManyRequests, unauthorized } from '../../src/errors.ts'

const contract = await loadContract()
const validator = createValidator(contract)
const ids = contract.operations.map(({ id }) => id)
const handlerMap = (entries: [string, unknown][]) => Object.fromEntries(entries) as unknown as HandlerMap
const COMPLETE = ids.map((id): [string, unknown] => [id, async (input: unknown) => ({ id, input })])

describe('building', () => {
  test.each(ids)('fails without a handler for %s', async (id) => {
    const handlers = handlerMap(COMPLETE.filter(([name]) => name !== id))
    await expect(createDispatcher({ contract, validator, handlers })).rejects.toThrow(`No handler for ${id}`)
  })

  test('fails with a handler that belongs to no operation', async () => {
    const handlers = handlerMap([...COMPLETE, ['teleport', async () => ({})]])
    await expect(createDispatcher({ contract, validator, handlers })).rejects.toThrow('teleport')
  })
})

/** An exchange that writes down in which order it is asked. */
function recordedExchange(overrides: Partial<Exchange> = {}) {
  const asked: string[] = []
  const exchange: Exchange = {
    method: 'POST',
    path: '/api/v1/relayers/r/sign',
    querystring: '',
    header: () => undefined,
    routed: ({ id }) => void asked.push(`routed ${id}`),
    credentialProblem: () => {
      asked.push('credential')
      return undefined
    },
    admit: () => void asked.push('admit'),
    readBody: async () => {
      asked.push('body')
      return { message: 'x' }
    },
    context: { requestId: 'id', signal: new AbortController().signal },
    ...overrides,
  }
  return { asked, exchange }
}

const dispatcher = await createDispatcher({ contract, validator, handlers: handlerMap(COMPLETE) })

describe('the order of a request', () => {
  test('route, credential, rate limit, body, handler', async () => {
    const { asked, exchange } = recordedExchange()
    expect(await dispatcher.dispatch(exchange)).toEqual({
      id: 'signMessage',
      input: { path: { relayer_id: 'r' }, query: {}, header: {}, body: { message: 'x' } },
    })
    expect(asked).toEqual(['routed signMessage', 'credential', 'admit', 'body'])
  })

  test('a stranger is counted and refused before the body is read', async () => {
    const { asked, exchange } = recordedExchange({ credentialProblem: () => unauthorized('no') })
    await expect(dispatcher.dispatch(exchange)).rejects.toMatchObject({ status: 401 })
    expect(asked).toEqual(['routed signMessage', 'admit'])
  })

  test('whoever is over the limit is refused before the body is read', async () => {
    const { asked, exchange } = recordedExchange({
      admit: () => {
        throw tooManyRequests(3)
      },
    })
    await expect(dispatcher.dispatch(exchange)).rejects.toMatchObject({ status: 429 })
    expect(asked).toEqual(['routed signMessage', 'credential'])
  })

  test.each([
    ['/api/v1/nothing', 'GET', 404],
    ['/api/v1/relayers', 'PUT', 405],
  ])('%s %s: the credential is asked for before %i is said', async (path, method, status) => {
    const known = recordedExchange({ path, method })
    await expect(dispatcher.dispatch(known.exchange)).rejects.toMatchObject({ status })
    expect(known.asked).toEqual(['admit', 'credential'])
    const stranger = recordedExchange({ path, method, credentialProblem: () => unauthorized('no') })
    await expect(dispatcher.dispatch(stranger.exchange)).rejects.toMatchObject({ status: 401 })
  })
})

test('a path of many slashes takes no time', () => {
  const router = new ContractRouter(routingDefinition(contract))
  const start = performance.now()
  expect(router.methods(`/${'/'.repeat(200_000)}x/`)).toEqual([])
  expect(performance.now() - start).toBeLessThan(500)
})

describe('our router decides like the one it replaces', () => {
  const definition = routingDefinition(contract)
  const original = new OpenAPIRouter({ definition })
  const ours = new ContractRouter(definition)
  const paths = [
    ...contract.operations.map(({ path }) => path.replaceAll(/\{[^}]+\}/g, 'x-1')),
    '/api/v1',
    '/api/v1/relayers/x/y',
  ]
  const cases = [...new Set(paths)].flatMap((path) =>
    ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'].map((method) => [method, path] as const),
  )

  test.each(cases)('%s %s', (method, path) => {
    const decide = (router: OpenAPIRouter) => {
      try {
        return router.matchOperation({ method, path, headers: {} }, true).operationId
      } catch (error) {
        return (error as Error).message.slice(0, 3)
      }
    }
    expect(decide(ours)).toBe(decide(original))
    expect(decide(ours)).toBeDefined()
  })
})
