import { describe, expect, test } from 'vitest'
import { hashSecret } from '../../src/access/api-key.ts'
import { type Principal, ROOT } from '../../src/access/principal.ts'
import { SCOPES } from '../../src/access/scope.ts'
import { type ContractOperation, loadContract } from '../../src/contract/document.ts'
import { AppError } from '../../src/errors.ts'
import type { HandlerMap } from '../../src/http/handler.ts'
import { ask, BEARER, startSharedStub } from './stub-server.ts'

const { document, operations } = await loadContract()
const { bearer } = (document.components as { securitySchemes: Record<string, Record<string, object>> })
  .securitySchemes
const DESCRIBED = Object.keys(bearer?.['x-scopes'] ?? {})

/** A secret that is the name of its only scope. */
const findKey = (secretHash: string): Principal | undefined => {
  const only = SCOPES.find((scope) => hashSecret(scope).toString('hex') === secretHash)
  return only && { ...ROOT, id: 'narrow', may: (scope) => scope === only }
}

/** The operations of the interface, which knows no 403. */
const WITHOUT_FORBIDDEN = ['listNotifications', 'listRelayers', 'replaceTransaction', 'signMessage']

/** The operations that need a key and no scope of it. */
const OPEN_TO_EVERY_KEY = [
  'getVersion',
  'getCurrentApiKey',
  'listRoles',
  'listProposals',
  'decideProposal',
  'endCurrentSession',
]

test('the contract describes exactly the scopes of its schema', () => {
  const { schemas } = document.components as { schemas: Record<string, { enum?: unknown }> }
  expect(schemas.Scope?.enum).toEqual(DESCRIBED)
  expect(SCOPES).toEqual(DESCRIBED)
})

test('an operation that needs a key names a scope, unless it is open to every key', () => {
  const open = operations.filter(({ secured, scope }) => secured && scope === undefined).map(({ id }) => id)
  expect(open).toEqual(OPEN_TO_EVERY_KEY)
})

test('exactly the operations of the interface answer 401 for a missing scope', () => {
  const secured = operations.filter(({ secured }) => secured)
  expect(
    secured
      .filter(({ responses }) => !responses.has(403))
      .map(({ id }) => id)
      .sort(),
  ).toEqual(WITHOUT_FORBIDDEN)
})

describe('a key with one scope', async () => {
  const { port } = await startSharedStub({ findKey, rateLimit: { perSecond: 100_000, burst: 100_000 } })
  const secured = operations.filter(({ secured }) => secured)

  test.each(SCOPES)('%s opens the operations that name it, and no other', async (scope) => {
    const refused: string[] = []
    for (const { id, method, path, responses } of secured) {
      const concrete = path.replaceAll(/\{[^}]+\}/g, '1')
      const { status, json } = await ask(port, {
        method,
        path: concrete,
        headers: { authorization: `Bearer ${scope}` },
      })
      if (json?.code !== 'insufficient_scope') continue
      refused.push(id)
      expect([id, status]).toEqual([id, responses.has(403) ? 403 : 401])
    }
    const named = secured.filter((operation) => operation.scope === scope).map(({ id }) => id)
    expect(named.length).toBeGreaterThan(0)
    const allowed = secured
      .map(({ id }) => id)
      .filter((id) => named.includes(id) || OPEN_TO_EVERY_KEY.includes(id))
    expect(secured.map(({ id }) => id).filter((id) => !refused.includes(id))).toEqual(allowed)
  })
})

describe('every operation', async () => {
  /** The stub checks each answer against the contract, so an undeclared status becomes 500 in these tests. */
  const { operations } = await loadContract()

  /** An address is no id: any other text in its place is refused before the handler. */
  const CONTRACT = `0x${'11'.repeat(20)}`
  const pathOf = ({ path }: ContractOperation, value: string) =>
    path.replaceAll(/\{[^}]+\}/g, (name) => (name === '{address}' && value === '1' ? CONTRACT : value))
  /** The query parameters that an operation requires. */
  const QUERIES: Readonly<Record<string, string>> = {
    getActivity: '?from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z',
    getSpendingReport: '?from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z',
  }
  const cases = operations.map((operation) => [operation.id, operation] as const)

  /** No id of the contract has this many characters. */
  const TOO_LONG = 'x'.repeat(301)

  const withCredential = { authorization: BEARER }

  describe('without a credential', async () => {
    const { port } = await startSharedStub()

    test.each(cases)('%s answers 401 when the contract declares it', async (_id, operation) => {
      const { status } = await ask(port, { method: operation.method, path: pathOf(operation, 'x') })
      expect(operation.responses.has(401)).toBe(operation.secured)
      expect(status).toBe(operation.secured ? 401 : 200)
    })
  })

  describe('above the rate limit', async () => {
    const { port } = await startSharedStub({ rateLimit: { perSecond: 0.001, burst: 1 } })
    await ask(port, { path: '/api/v1/relayers', headers: withCredential })

    test.each(cases)('%s answers 429 only when the contract declares it', async (_id, operation) => {
      const request = { method: operation.method, path: pathOf(operation, '1'), headers: withCredential }
      expect((await ask(port, request)).status === 429).toBe(operation.responses.has(429))
    })
  })

  describe('with an id that cannot exist', async () => {
    const { port } = await startSharedStub()
    const withIds = cases.filter(([, { path, body }]) => path.includes('_id}') && body === undefined)

    test.each(withIds)('%s answers 404', async (_id, operation) => {
      const path = pathOf(operation, TOO_LONG)
      expect((await ask(port, { method: operation.method, path, headers: withCredential })).status).toBe(404)
    })
  })

  describe('with a handler that fails', async () => {
    const fail = async () => {
      throw new Error('the handler failed')
    }
    const handlers = Object.fromEntries(operations.map(({ id }) => [id, fail])) as unknown as HandlerMap
    const { port, lines } = await startSharedStub({ handlers })
    const withoutBody = cases.filter(([, { body }]) => body === undefined)

    test.each(withoutBody)('%s answers 500 as the contract declares it', async (id, operation) => {
      const path = `${pathOf(operation, '1')}${QUERIES[id] ?? ''}`
      const reply = await ask(port, { method: operation.method, path, headers: withCredential })
      expect([reply.status, reply.json?.code]).toEqual([500, 'internal_error'])
      const mismatches = lines.filter(({ operation, mismatch }) => operation === id && mismatch !== undefined)
      expect(mismatches).toEqual([])
    })
  })

  describe('with a database that is away', async () => {
    const fault = new Error('the connection was lost')
    const fail = async () => {
      throw fault
    }
    const handlers = Object.fromEntries(operations.map(({ id }) => [id, fail])) as unknown as HandlerMap
    const explainFault = () => new AppError('database_unavailable', 'It is away.', { retryAfterSeconds: 1 })
    const { port, lines } = await startSharedStub({ handlers, explainFault })
    // Readiness answers 503 in a body of its own, and its handler does not fail.
    const failing = cases.filter(([id, { body }]) => body === undefined && id !== 'getReadiness')

    test.each(failing)(
      '%s answers 503 where the contract has it, and 500 elsewhere',
      async (id, operation) => {
        const path = `${pathOf(operation, '1')}${QUERIES[id] ?? ''}`
        const reply = await ask(port, { method: operation.method, path, headers: withCredential })
        expect([reply.status, reply.json?.code, reply.headers['retry-after']]).toEqual(
          operation.responses.has(503)
            ? [503, 'database_unavailable', '1']
            : [500, 'database_unavailable', undefined],
        )
        expect(lines.filter((line) => line.operation === id && line.mismatch !== undefined)).toEqual([])
      },
    )

    test('the four operations of the interface have no 503', () => {
      const four = ['replaceTransaction', 'signMessage', 'listNotifications', 'listRelayers']
      const declared = operations.filter(({ responses }) => responses.has(503)).map(({ id }) => id)
      expect(declared.filter((id) => four.includes(id))).toEqual([])
      expect(declared.length).toBeGreaterThan(55)
    })
  })
})
