import { describe, expect, test } from 'vitest'
import { type ContractOperation, loadContract } from '../../src/contract/document.ts'
import type { HandlerMap } from '../../src/contract/handler.ts'

import { AppError } from '../../src/errors.ts'
import { ask, BEARER, startSharedStub } from './stub-server.ts'

/** The stub checks each answer against the contract, so an undeclared status becomes 500 in these tests. */
const { operations } = await loadContract()

/** An address is no id: any other text in its place is refused before the handler. */
const CONTRACT = `0x${'11'.repeat(20)}`
const pathOf = ({ path }: ContractOperation, value: string) =>
  path.replaceAll(/\{[^}]+\}/g, (name) => (name === '{address}' && value === '1' ? CONTRACT : value))
/** The query parameters that an operation requires. */
const QUERIES: Readonly<Record<string, string>> = {
  getSpendingReport: '?from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z',
}
const cases = operations.map((operation) => [operation.id, operation] as const)

/** No id of the contract has so many characters. */
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

  test.each(failing)('%s answers 503 where the contract has it, and 500 elsewhere', async (id, operation) => {
    const path = `${pathOf(operation, '1')}${QUERIES[id] ?? ''}`
    const reply = await ask(port, { method: operation.method, path, headers: withCredential })
    expect([reply.status, reply.json?.code, reply.headers['retry-after']]).toEqual(
      operation.responses.has(503) ? [503, 'database_unavailable', '1'] : [500, 'internal_error', undefined],
    )
    expect(lines.filter((line) => line.operation === id && line.mismatch !== undefined)).toEqual([])
  })

  test('the four operations of the interface have no 503', () => {
    const four = ['replaceTransaction', 'signMessage', 'listNotifications', 'listRelayers']
    const declared = operations.filter(({ responses }) => responses.has(503)).map(({ id }) => id)
    expect(declared.filter((id) => four.includes(id))).toEqual([])
    expect(declared.length).toBeGreaterThan(55)
  })
})
