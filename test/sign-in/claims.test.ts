import { describe, expect, test } from 'vitest'
import { type Claims, readIdentity } from '../../src/sign-in/claims.ts'

const ISSUER = 'https://login.example.com'
const settings = (rolesClaim: readonly string[], roles: Record<string, readonly ['viewer' | 'admin']>) => ({
  issuer: ISSUER,
  rolesClaim,
  roles: new Map(Object.entries(roles)),
})

const rolesOf = (claims: Claims, path: readonly string[]) =>
  readIdentity({ sub: 'ada', ...claims }, settings(path, { admins: ['admin'], viewers: ['viewer'] })).roles

describe('the claim with the roles', () => {
  test('is found by its path, as Keycloak nests it', () => {
    const claims = { resource_access: { relayer: { roles: ['admins', 'offline_access'] } } }
    expect(rolesOf(claims, ['resource_access', 'relayer', 'roles'])).toEqual(['admin'])
  })

  test('has dots in its name, as Auth0 requires', () => {
    expect(rolesOf({ 'https://example.com/roles': ['viewers'] }, ['https://example.com/roles'])).toEqual([
      'viewer',
    ])
  })

  test('is one text, as some mappers send it', () => {
    expect(rolesOf({ role: 'viewers' }, ['role'])).toEqual(['viewer'])
  })

  test('gives each role once', () => {
    expect(rolesOf({ groups: ['viewers', 'viewers', 'admins'] }, ['groups'])).toEqual(['viewer', 'admin'])
  })

  test.each([
    ['a path through a list', { a: [{ roles: ['admins'] }] }, ['a', '0', 'roles']],
    ['a path through a text', { a: 'admins' }, ['a', 'length']],
    ['a path through null', { a: null }, ['a', 'roles']],
    ['a property of every object', {}, ['constructor', 'name']],
  ])('is missing behind %s', (_, claims, path) => {
    expect(() => rolesOf(claims as Claims, path)).toThrow(/The provider sent no claim/)
  })

  test('is elsewhere for people with too many groups at Microsoft Entra, and the page says so', () => {
    const claims = {
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: 'https://graph.example' } },
    }
    expect(() => rolesOf(claims, ['groups'])).toThrow(/too many values for a token: map app roles/)
  })
})

describe('an e-mail address as the claim', () => {
  const byEmail = settings(['email'], { 'ada@example.com': ['admin'] })

  test('gives a role only if the provider has verified it', () => {
    const claims = { sub: '1', email: 'ada@example.com' }
    expect(readIdentity({ ...claims, email_verified: true }, byEmail).roles).toEqual(['admin'])
    for (const verified of [undefined, false, 'true', 1, null])
      expect(() => readIdentity({ ...claims, email_verified: verified }, byEmail)).toThrow(/has not verified/)
  })
})

describe('a person', () => {
  const open = settings(['groups'], { viewers: ['viewer'] })
  const personOf = (claims: Claims) => readIdentity({ sub: 'ada', groups: 'viewers', ...claims }, open).person

  test('has no e-mail address that the provider says is not verified', () => {
    expect(personOf({ email: 'root@example.com', email_verified: false })).toEqual({
      issuer: ISSUER,
      subject: 'ada',
    })
  })

  test('has a name without characters that would change the line that it stands in, and of a bounded length', () => {
    expect(personOf({ name: '\u202eada\u0007\n' }).name).toBe('ada')
    expect(personOf({ name: 'x'.repeat(10_000) }).name).toHaveLength(200)
    expect(personOf({ name: '\u200b' })).not.toHaveProperty('name')
  })

  test.each([undefined, '', 7, 'ä', 'x'.repeat(256), ['ada'], 'a\nb'])(
    'is refused with the subject %j',
    (sub) => {
      expect(() => personOf({ sub })).toThrow(/no subject/)
    },
  )
})
