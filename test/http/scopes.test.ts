import { describe, expect, test } from 'vitest'
import { hashSecret } from '../../src/access/key-secret.ts'
import { type Principal, ROOT } from '../../src/access/principal.ts'
import type { Scope } from '../../src/access/scope.ts'
import { loadContract } from '../../src/contract/document.ts'
import { ask, startSharedStub } from './stub-server.ts'

const { document, operations } = await loadContract()
const { bearer } = (document.components as { securitySchemes: Record<string, Record<string, object>> })
  .securitySchemes
const SCOPES = Object.keys(bearer?.['x-scopes'] ?? {}) as Scope[]

/** A secret that is the name of its only scope. */
const findKey = (secretHash: string): Principal | undefined => {
  const only = SCOPES.find((scope) => hashSecret(scope).toString('hex') === secretHash)
  return only && { ...ROOT, id: 'narrow', may: (scope) => scope === only }
}

/** The operations of the interface, which knows no 403. */
const WITHOUT_FORBIDDEN = ['listNotifications', 'listRelayers', 'replaceTransaction', 'signMessage']

test('the contract describes exactly the scopes of its schema', () => {
  const { schemas } = document.components as { schemas: Record<string, { enum?: unknown }> }
  expect(schemas.Scope?.enum).toEqual(SCOPES)
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
    const allowed = secured.filter((operation) => operation.scope === scope).map(({ id }) => id)
    expect(allowed.length).toBeGreaterThan(0)
    expect(secured.map(({ id }) => id).filter((id) => !refused.includes(id))).toEqual(allowed)
  })
})
