import { expect, test } from 'vitest'
import { goodFile, load, problemsOf, SECRET } from '../config/fixture.ts'

const ENTRY = {
  issuer: 'https://login.example.com/realms/main',
  client_id: 'relayer',
  client_secret: { type: 'env', value: 'OIDC_CLIENT_SECRET' },
  roles_claim: 'groups',
  roles: { 'relayer-admins': 'admin', treasury: ['operator', 'approver'] },
}
const env = { OIDC_CLIENT_SECRET: SECRET, RELAYER_PUBLIC_URL: 'https://relayer.example.com' }
const fileWith = (change: object) => ({ ...goodFile(), sign_in: { ...ENTRY, ...change } })
const problemsWith = (change: object, publicUrl = env.RELAYER_PUBLIC_URL) =>
  problemsOf({ file: fileWith(change), env: { ...env, RELAYER_PUBLIC_URL: publicUrl } })

test('the entry sign_in is read with its standards, and the secret is in no text', () => {
  const { signIn } = load({ file: fileWith({}), env })
  expect(signIn).toMatchObject({
    name: 'login.example.com',
    issuer: ENTRY.issuer,
    clientId: 'relayer',
    scopes: ['openid', 'profile', 'email'],
    publicUrl: 'https://relayer.example.com',
    rolesClaim: ['groups'],
    sessionMs: 43_200_000,
    idleMs: 3_600_000,
  })
  expect([...(signIn?.roles ?? [])]).toEqual([
    ['relayer-admins', ['admin']],
    ['treasury', ['operator', 'approver']],
  ])
  expect(signIn?.clientSecret?.reveal()).toBe(SECRET)
  expect(JSON.stringify(signIn)).not.toContain(SECRET)
})

test('without the entry no one can sign in', () => {
  expect(load({ file: goodFile() }).signIn).toBeUndefined()
})

test('a claim is named by its name, or by the list of names that lead to it', () => {
  const path = ['resource_access', 'relayer', 'roles']
  expect(load({ file: fileWith({ roles_claim: path }), env }).signIn?.rolesClaim).toEqual(path)
  expect(
    load({ file: fileWith({ roles_claim: 'https://example.com/roles' }), env }).signIn?.rolesClaim,
  ).toEqual(['https://example.com/roles'])
})

test('a second person needs people who sign in, and a key that encrypts what waits', () => {
  const sealing = { STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') }
  const file = { ...fileWith({}), second_person: {} }
  expect(load({ file, env: { ...env, ...sealing } }).secondPerson).toEqual({ expiresMs: 86_400_000 })
  expect(problemsOf({ file: { ...goodFile(), second_person: { expires_hours: 0 } } })).toEqual([
    'second_person.expires_hours must be a whole number from 1 to 720',
    'second_person needs sign_in: an API key does not tell who uses it',
    'second_person needs STORAGE_ENCRYPTION_KEY: changes that wait can contain secrets',
  ])
  expect(load({ file: fileWith({}), env }).secondPerson).toBeUndefined()
})

const NO_ORIGIN =
  'sign_in needs RELAYER_PUBLIC_URL with an origin such as "https://relayer.example", without a path (http:// only on this machine)'

test('people can sign in only where the origin of the service for browsers is known', () => {
  expect(problemsWith({}, 'https://relayer.example.com/')).toEqual([])
  expect(problemsWith({}, 'https://relayer.example.com/relayer')).toEqual([NO_ORIGIN])
  expect(problemsOf({ file: fileWith({}), env: { OIDC_CLIENT_SECRET: SECRET } })).toEqual([NO_ORIGIN])
})

test('http is allowed on this machine only, for the provider and for the service', () => {
  for (const host of ['localhost', '127.0.0.1', '[::1]'])
    expect(problemsWith({ issuer: `http://${host}:8081` }, `http://${host}:8080`)).toEqual([])
  for (const host of ['relayer.example.com', '10.0.0.1', 'localhost.example.com', '127.0.0.1.example.com'])
    expect(problemsWith({ issuer: `http://${host}` }, `http://${host}`)).toEqual([
      'sign_in.issuer must be the https:// url of the provider, without a query (http:// only on this machine)',
      NO_ORIGIN,
    ])
})

test.each([
  [{ issuer: 'https://user:pass@login.example.com' }, /^sign_in.issuer must be/],
  [{ issuer: undefined }, /^sign_in.issuer is missing/],
  [{ client_id: '' }, /^sign_in.client_id must be a non-empty text/],
  [{ client_secret: SECRET }, /^sign_in.client_secret must be an object/],
  [{ roles_claim: [] }, /^sign_in.roles_claim is missing/],
  [{ roles_claim: undefined }, /^sign_in.roles_claim is missing/],
  [{ roles: {} }, /^sign_in.roles must be an object that gives a role/],
  [{ roles: { a: 'owner' } }, /^sign_in.roles must give "a" viewer, operator, approver, auditor, admin/],
  [{ roles: { a: 'application' } }, /^sign_in.roles must give "a" viewer/],
  [{ roles: { a: ['viewer', 'constructor'] } }, /^sign_in.roles must give "a"/],
  [{ roles: { a: [] } }, /^sign_in.roles must give "a"/],
  [{ scopes: ['openid profile'] }, /^sign_in.scopes\[0\] must be a scope of the provider/],
  [{ session_hours: 25 }, /^sign_in.session_hours must be a whole number from 1 to 24/],
  [{ idle_minutes: 4 }, /^sign_in.idle_minutes must be a whole number from 5 to 1440/],
  [{ name: 'x'.repeat(51) }, /^sign_in.name must be a text of 1 to 50 characters/],
  [{ redirect_uri: 'https://x.example' }, /^sign_in.redirect_uri is not known/],
])('a mistake in the entry is named: %j', (change, problem) => {
  const problems = problemsWith(change)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(problem)
  expect(problems[0]).not.toContain(SECRET)
})
