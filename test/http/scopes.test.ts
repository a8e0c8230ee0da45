import { describe, expect, test } from 'vitest'
import { hashSecret } from '../../src/access/api-key.ts'
import { type Principal, ROOT } from '../../src/access/principal.ts'
import { SCOPES } from '../../src/access/scope.ts'
import { loadContract } from '../../src/contract/document.ts'
import { ask, startSharedStub } from './stub-server.ts'

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
const OPEN_TO_EVERY_KEY = ['getCurrentApiKey']

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
