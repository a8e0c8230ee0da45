import { afterAll, beforeAll, expect, test } from 'vitest'
import { personId } from '../../../src/access/principal.ts'
import { ROLES as ALL_ROLES } from '../../../src/access/role.ts'
import { SESSION_COOKIE } from '../../../src/http/cookies.ts'
import { openWebBrowser } from '../../support/web-browser.ts'
import { type SignInWorld, startSignInWorld } from './sign-in-world.ts'

let world: SignInWorld
beforeAll(async () => {
  world = await startSignInWorld()
})
afterAll(() => world?.stop())

const idOf = (subject: string) => personId({ issuer: world.provider.issuer, subject })

test('a person signs in with the provider, and has the scopes of the role that the claim names', async () => {
  for (const [subject, role] of [
    ['vera', 'viewer'],
    ['otto', 'operator'],
    ['anna', 'approver'],
    ['udo', 'auditor'],
    ['ada', 'admin'],
  ] as const) {
    const browser = await world.signedIn(subject)
    const { status, data } = await browser.api('GET', '/current-api-key')
    expect([status, data]).toEqual([
      200,
      {
        id: idOf(subject),
        person: {
          issuer: world.provider.issuer,
          subject,
          name: `${subject} example`,
          email: `${subject}@example.com`,
        },
        session: { id: expect.any(String), roles: [role], expires_at: expect.any(String) },
        scopes: expect.toSatisfy((scopes: string[]) => isSame(scopes, ALL_ROLES[role].scopes)),
      },
    ])
  }
})

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify([...one].sort()) === JSON.stringify([...other].sort())
}

test('a value of the claim can give several roles, whose scopes add up', async () => {
  const { data } = await (await world.signedIn('lena')).api('GET', '/current-api-key')
  expect(data.session).toMatchObject({ roles: ['operator', 'approver'] })
  expect(data.scopes).toEqual(expect.arrayContaining(['transactions:approve', 'transactions:write']))
})

test('the cookie is bound to its host, and hidden from scripts', async () => {
  world.provider.user = 'vera'
  const { setCookies } = await openWebBrowser(world.service.url).visit(`${world.service.url}/auth/sign-in`)
  const own = setCookies.filter((line) => line.startsWith('__Host-relayer-'))
  expect(own).toHaveLength(3)
  for (const line of own) expect(line).toMatch(/; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/)
  expect(own.find((line) => line.startsWith(SESSION_COOKIE))).toContain('Max-Age=43200')
})

test('the scopes of a session open what they open for a key, and nothing else', async () => {
  const viewer = await world.signedIn('vera')
  expect((await viewer.api('GET', '/relayers')).status).toBe(200)
  const refused = await viewer.api('POST', '/api-keys', { body: { name: 'Mine', scopes: ['rpc'] } })
  expect([refused.status, refused.code]).toEqual([403, 'insufficient_scope'])
  expect(refused.error).toBe(`Person ${idOf('vera')} lacks the scope api-keys:admin.`)
  expect((await viewer.api('GET', '/audit')).status).toBe(403)
})

test('the audit log names the person who did something, and its hashes cover the name', async () => {
  const admin = await world.signedIn('ada')
  const { data: key } = await admin.api('POST', '/api-keys', { body: { name: 'Made', scopes: ['rpc'] } })
  expect(key).toMatchObject({ created_by: idOf('ada') })
  const { data: entries } = await admin.api('GET', `/audit?actor=${idOf('ada')}&limit=2`)
  const person = {
    issuer: world.provider.issuer,
    subject: 'ada',
    name: 'ada example',
    email: 'ada@example.com',
  }
  expect(entries).toMatchObject([
    { action: 'createApiKey', actor: idOf('ada'), person, target_type: 'api_key' },
    { action: 'signIn', actor: idOf('ada'), person, target_type: 'session', after: { roles: ['admin'] } },
  ])
})

test('a person who signs out ends the session at the service: the cookie is worth nothing afterwards', async () => {
  const browser = await world.signedIn('otto')
  const stolen = browser.cookies(world.service.url).get(SESSION_COOKIE)
  expect((await browser.api('DELETE', '/current-session')).status).toBe(200)
  const thief = openWebBrowser(world.service.url)
  thief.cookies(world.service.url).set(SESSION_COOKIE, stolen ?? '')
  const refused = await thief.api('GET', '/current-api-key')
  expect([refused.status, refused.code, refused.error]).toEqual([
    401,
    'unauthorized',
    'Your session has ended. Sign in again.',
  ])
})

test('an admin lists the sessions and ends one; someone who may only read them cannot', async () => {
  const [admin, auditor, viewer] = [
    await world.signedIn('ada'),
    await world.signedIn('udo'),
    await world.signedIn('vera'),
  ]
  const { data: own } = await viewer.api('GET', '/current-api-key')
  const id = (own.session as unknown as { id: string }).id
  const { data: listed } = await auditor.api('GET', '/sessions?per_page=100')
  expect(listed).toContainEqual({
    id,
    person_id: idOf('vera'),
    person: own.person,
    roles: ['viewer'],
    address: '127.0.0.1',
    user_agent: 'node',
    created_at: expect.any(String),
    last_used_at: expect.any(String),
    expires_at: expect.any(String),
  })
  expect((await auditor.api('DELETE', `/sessions/${id}`)).status).toBe(403)
  expect((await admin.api('DELETE', `/sessions/${id}`)).status).toBe(200)
  expect((await viewer.api('GET', '/current-api-key')).status).toBe(401)
  const again = await admin.api('DELETE', `/sessions/${id}`)
  expect([again.status, again.code]).toEqual([404, 'session_not_found'])
})

test('an API key has no session to end, and one without the scopes of a session cannot end it', async () => {
  const { service } = world
  const none = await service.api('DELETE', '/current-session')
  expect([none.status, none.body.code]).toEqual([400, 'invalid_request'])
  const admin = await world.signedIn('ada')
  const { data } = await admin.api('GET', '/current-api-key')
  const { body } = await service.api<{ secret: string }>('POST', '/api-keys', {
    name: 'Narrow admin',
    scopes: ['api-keys:admin'],
  })
  const id = (data.session as unknown as { id: string }).id
  const weak = await service.api('DELETE', `/sessions/${id}`, undefined, {
    authorization: `Bearer ${body.data.secret}`,
  })
  expect([weak.status, weak.body.error]).toEqual([
    400,
    `Session ${id} has rights that you lack, so you cannot end it.`,
  ])
})

test('an event stream of a session ends with it', async () => {
  const browser = await world.signedIn('vera')
  const cookie = `${SESSION_COOKIE}=${browser.cookies(world.service.url).get(SESSION_COOKIE)}`
  const stream = await fetch(`${world.service.url}/api/v1/events/stream`, {
    headers: { cookie, 'x-csrf-protection': '1', accept: 'text/event-stream' },
  })
  expect(stream.status).toBe(200)
  const { data } = await browser.api('POST', '/events/stream-tickets', { body: {} })
  await browser.api('DELETE', '/current-session')
  // It ends without an error: the reader gets everything that there is.
  expect(await stream.text()).toBeTypeOf('string')
  const { ticket } = data as unknown as { ticket: string }
  const late = await fetch(`${world.service.url}/api/v1/events/stream?ticket=${ticket}`)
  expect(late.status).toBe(401)
})

test('a person can open a stream with a ticket', async () => {
  const browser = await world.signedIn('vera')
  const { data } = await browser.api('POST', '/events/stream-tickets', { body: {} })
  const { ticket } = data as unknown as { ticket: string }
  const stream = await fetch(`${world.service.url}/api/v1/events/stream?ticket=${ticket}`)
  expect(stream.status).toBe(200)
  await stream.body?.cancel()
})

test('every caller can list the roles, which are those of people and of the console', async () => {
  const { body } = await world.service.api<{ name: string; scopes: string[] }[]>('GET', '/roles')
  expect(body.data.map(({ name }) => name)).toEqual(Object.keys(ALL_ROLES))
})

test('the eleventh session of a person ends the oldest one', async () => {
  const first = await world.signedIn('anna')
  for (let count = 0; count < 9; count += 1) await world.signedIn('anna')
  expect((await first.api('GET', '/current-api-key')).status).toBe(200)
  const newest = await world.signedIn('anna')
  expect((await newest.api('GET', '/current-api-key')).status).toBe(200)
  expect((await first.api('GET', '/current-api-key')).status).toBe(401)
})
