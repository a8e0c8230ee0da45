import { generateKeyPair, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PENDING_COOKIE, SESSION_COOKIE } from '../../../src/http/cookies.ts'
import type { Tokens } from '../../support/identity-provider.ts'
import { API_KEY } from '../../support/service.ts'
import { openWebBrowser } from '../../support/web-browser.ts'
import { type SignInWorld, startSignInWorld } from './sign-in-world.ts'

let world: SignInWorld
beforeAll(async () => {
  world = await startSignInWorld()
})
afterAll(() => world?.stop())
afterEach(() => {
  world.provider.tamper = undefined
  world.provider.refuses = false
})

const signInUrl = () => `${world.service.url}/auth/sign-in`

/** Signs in, whatever comes of it. */
async function trySignIn(subject = 'ada') {
  world.provider.user = subject
  const browser = openWebBrowser(world.service.url)
  return { browser, ...(await browser.visit(signInUrl())) }
}

/** Goes up to the callback, without opening it. */
async function upToCallback(subject = 'ada') {
  world.provider.user = subject
  const browser = openWebBrowser(world.service.url)
  const { url } = await browser.visit(signInUrl(), ({ pathname }) => pathname === '/auth/callback')
  return { browser, callback: url }
}

const isSignedIn = async (browser: ReturnType<typeof openWebBrowser>) =>
  (await browser.api('GET', '/current-api-key')).status === 200

const claimsOf = ({ id_token: token }: Tokens) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>

describe('an ID token is refused', () => {
  const changes: Record<string, (tokens: Tokens) => Promise<string> | string> = {
    'whose signature is that of another key': async (tokens) => {
      const { privateKey } = await generateKeyPair('RS256')
      return new SignJWT({ ...claimsOf(tokens), groups: ['admins'] })
        .setProtectedHeader({ alg: 'RS256', kid: 'test' })
        .sign(privateKey)
    },
    'whose claims were changed under its signature': ({ id_token: token }) => {
      const [header, , signature] = token.split('.')
      const claims = { ...claimsOf({ id_token: token, access_token: '' }), sub: 'ada', groups: ['admins'] }
      return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.')
    },
    'that says it needs no signature': (tokens) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      return `${part({ alg: 'none' })}.${part(claimsOf(tokens))}.`
    },
    'that has expired': (tokens) => {
      const past = Math.floor(Date.now() / 1000) - 3_600
      return world.provider.sign({ ...claimsOf(tokens), iat: past - 60, exp: past })
    },
    'for another audience': (tokens) => world.provider.sign({ ...claimsOf(tokens), aud: 'another-client' }),
    'of another issuer': (tokens) =>
      world.provider.sign({ ...claimsOf(tokens), iss: 'https://login.example.com' }),
    'with the nonce of another sign-in': (tokens) =>
      world.provider.sign({ ...claimsOf(tokens), nonce: 'x'.repeat(43) }),
    'without a nonce': (tokens) => {
      const { nonce: _, ...claims } = claimsOf(tokens)
      return world.provider.sign(claims)
    },
    'that is no token': () => 'no-token',
  }

  test.each(Object.keys(changes))('%s', async (name) => {
    world.provider.tamper = async (tokens) => ({ ...tokens, id_token: (await changes[name]?.(tokens)) ?? '' })
    const { browser, status, text } = await trySignIn('vera')
    expect([status, await isSignedIn(browser)]).toEqual([400, false])
    expect(text).toContain('The answer of the provider is not acceptable. Sign in again.')
    world.provider.tamper = undefined
    expect(await isSignedIn((await trySignIn('vera')).browser)).toBe(true)
  })
})

test('a role that the ID token lacks comes from the userinfo endpoint, and never from that of another person', async () => {
  world.provider.tamper = async (tokens) => {
    const { groups: _, ...claims } = claimsOf(tokens)
    return { ...tokens, id_token: await world.provider.sign(claims) }
  }
  expect(await isSignedIn((await trySignIn('vera')).browser)).toBe(true)
  world.provider.tamper = async (tokens) => {
    const { groups: _, ...claims } = claimsOf(tokens)
    return { ...tokens, id_token: await world.provider.sign({ ...claims, sub: 'ada' }) }
  }
  const { browser, status } = await trySignIn('vera')
  expect([status, await isSignedIn(browser)]).toEqual([400, false])
})

describe('a callback is refused', () => {
  test('with the state of another sign-in', async () => {
    const { browser, callback } = await upToCallback()
    callback.searchParams.set('state', 'x'.repeat(43))
    expect((await browser.visit(callback.href)).status).toBe(400)
    expect(await isSignedIn(browser)).toBe(false)
  })

  test('without a state, with two, and without a code', async () => {
    for (const change of [
      (query: URLSearchParams) => query.delete('state'),
      (query: URLSearchParams) => query.append('state', query.get('state') ?? ''),
      (query: URLSearchParams) => query.delete('code'),
    ]) {
      const { browser, callback } = await upToCallback()
      change(callback.searchParams)
      expect((await browser.visit(callback.href)).status).toBe(400)
      expect(await isSignedIn(browser)).toBe(false)
    }
  })

  test('in a browser in which no sign-in is under way, as when an attacker sends their own', async () => {
    const { callback } = await upToCallback()
    const victim = openWebBrowser(world.service.url)
    const { status, text } = await victim.visit(callback.href)
    expect([status, text]).toEqual([400, expect.stringContaining('This browser has no sign-in under way')])
    expect(await isSignedIn(victim)).toBe(false)
  })

  test('that comes again, even with the cookie that belongs to it', async () => {
    const { browser, callback } = await upToCallback()
    const pending = browser.cookies(world.service.url).get(PENDING_COOKIE) ?? ''
    expect((await browser.visit(callback.href)).url.pathname).toBe('/console')
    expect(browser.cookies(world.service.url).has(PENDING_COOKIE)).toBe(false)
    expect((await browser.visit(callback.href)).status).toBe(400)
    const thief = openWebBrowser(world.service.url)
    thief.cookies(world.service.url).set(PENDING_COOKIE, pending)
    const { status, text } = await thief.visit(callback.href)
    expect([status, text]).toEqual([400, expect.stringContaining('(invalid_grant)')])
    expect(await isSignedIn(thief)).toBe(false)
  })

  test('with a pending cookie of any other form', async () => {
    for (const value of [
      '',
      '.',
      'a.b.c',
      `${'x'.repeat(43)}.${'y'.repeat(43)}`,
      '%00',
      'é',
      'x'.repeat(3_000),
    ]) {
      const { callback } = await upToCallback()
      const browser = openWebBrowser(world.service.url)
      browser.cookies(world.service.url).set(PENDING_COOKIE, encodeURI(value))
      expect((await browser.visit(callback.href)).status).toBe(400)
    }
  })

  test('when the person refuses at the provider, with a page that says so', async () => {
    world.provider.refuses = true
    const { browser, status, text } = await trySignIn()
    expect([status, await isSignedIn(browser)]).toEqual([403, false])
    expect(text).toContain('The provider did not sign you in (access_denied).')
  })
})

describe('no one gets a role', () => {
  const WITHOUT: Record<string, [claims: object, page: string]> = {
    'whose claim has none of the values': [{ groups: ['everyone'] }, 'No role is configured for you'],
    'whose claim is an empty list': [{ groups: [] }, 'No role is configured for you'],
    'whose claim is missing': [{}, 'The provider sent no claim'],
    'whose claim is an object': [{ groups: { admins: true } }, 'must be a text or a list of texts'],
    'whose claim is true': [{ groups: true }, 'must be a text or a list of texts'],
    'whose claim has a list in the list': [{ groups: [['admins']] }, 'must be a text or a list of texts'],
    'whose claim has a number beside a role': [
      { groups: ['admins', 7] },
      'must be a text or a list of texts',
    ],
    'whose claim names a property of every object': [
      { groups: ['constructor', '__proto__', 'toString'] },
      'No role is configured for you',
    ],
    'whose value differs in letter case': [
      { groups: ['Admins', 'admins '] },
      'No role is configured for you',
    ],
  }

  test.each(Object.keys(WITHOUT))('%s', async (name) => {
    const [claims, page] = WITHOUT[name] ?? [{}, '']
    world.provider.users.set('mallory', { ...claims })
    const { browser, status, text } = await trySignIn('mallory')
    expect([status, await isSignedIn(browser)]).toEqual([403, false])
    expect(text).toContain(page)
  })

  test('by a name that is markup: the page and the records keep it as text', async () => {
    world.provider.users.set('mallory', { groups: ['viewers'], name: '<b>root</b>\u202e\u0000', email: 7 })
    const { browser } = await trySignIn('mallory')
    const { data } = await browser.api('GET', '/current-api-key')
    expect(data.person).toEqual({
      issuer: world.provider.issuer,
      subject: 'mallory',
      name: '<b>root</b>',
    })
  })
})

test('a role grants no more than its scopes: an operator cannot make a key, and an admin none beyond the own scopes', async () => {
  const operator = await world.signedIn('otto')
  for (const [method, path] of [
    ['POST', '/api-keys'],
    ['POST', '/signers'],
    ['DELETE', '/sessions/x'],
    ['POST', '/relayers'],
  ] as const) {
    const { status, code } = await operator.api(method, path, method === 'POST' ? { body: {} } : {})
    expect([path, status, code]).toEqual([path, 403, 'insufficient_scope'])
  }
})

test('no API key can have the id of a person', async () => {
  const admin = await world.signedIn('ada')
  const { data } = await admin.api('GET', '/current-api-key')
  for (const id of [data.id, 'person.x']) {
    const made = await world.service.api('POST', '/api-keys', { id, name: 'Twin', scopes: ['rpc'] })
    expect([made.status, made.body.code]).toEqual([409, 'already_exists'])
  }
})

test('a session is new at each sign-in, and one that the browser brought along ends', async () => {
  const browser = await world.signedIn('vera')
  const before = browser.cookies(world.service.url).get(SESSION_COOKIE) ?? ''
  await browser.visit(signInUrl())
  const after = browser.cookies(world.service.url).get(SESSION_COOKIE) ?? ''
  expect(after).not.toBe(before)
  expect(await isSignedIn(browser)).toBe(true)
  const old = openWebBrowser(world.service.url)
  old.cookies(world.service.url).set(SESSION_COOKIE, before)
  expect(await isSignedIn(old)).toBe(false)
})

test('a session id that an attacker fixed beforehand is not the one of the sign-in', async () => {
  const browser = openWebBrowser(world.service.url)
  const fixed = 'a'.repeat(43)
  browser.cookies(world.service.url).set(SESSION_COOKIE, fixed)
  world.provider.user = 'ada'
  await browser.visit(signInUrl())
  expect(await isSignedIn(browser)).toBe(true)
  const attacker = openWebBrowser(world.service.url)
  attacker.cookies(world.service.url).set(SESSION_COOKIE, fixed)
  expect(await isSignedIn(attacker)).toBe(false)
})

describe('the cookie alone is not enough', () => {
  const KEY = { name: 'Forged', scopes: ['rpc'] }
  const CASES: Record<string, Record<string, string>> = {
    'without the header of the console': { 'x-csrf-protection': '' },
    'with another value of the header': { 'x-csrf-protection': '0' },
    'from another origin': { origin: 'https://evil.example' },
    'from an origin that the browser hides': { origin: 'null' },
    'from another site': { 'sec-fetch-site': 'cross-site' },
    'from another host of the same site': { 'sec-fetch-site': 'same-site' },
    'without an origin, for a change': { origin: '' },
  }

  test.each(Object.keys(CASES))('%s', async (name) => {
    const admin = await world.signedIn('ada')
    const refused = await admin.api('POST', '/api-keys', { body: KEY, headers: CASES[name] ?? {} })
    expect([refused.status, refused.code]).toEqual([401, 'unauthorized'])
    expect((await admin.api('POST', '/api-keys', { body: KEY })).status).toBe(201)
  })

  test('for reading either, so that another page cannot measure the answer', async () => {
    const admin = await world.signedIn('ada')
    expect((await admin.api('GET', '/audit', { headers: { 'x-csrf-protection': '' } })).status).toBe(401)
    expect((await admin.api('GET', '/audit', { headers: { origin: '' } })).status).toBe(200)
  })

  test('beside a second cookie of the same name', async () => {
    const admin = await world.signedIn('ada')
    const own = admin.cookies(world.service.url).get(SESSION_COOKIE)
    const cookie = `${SESSION_COOKIE}=${own}; ${SESSION_COOKIE}=${own}`
    expect((await admin.api('GET', '/audit', { headers: { cookie } })).status).toBe(401)
  })
})

test('a bearer key wins over a cookie, even if it is not accepted', async () => {
  const viewer = await world.signedIn('vera')
  const root = await viewer.api('GET', '/current-api-key', {
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  expect(root.data.id).toBe('root')
  for (const authorization of ['Bearer not-a-key', 'Basic dXNlcjpwYXNz', 'Bearer']) {
    const refused = await viewer.api('GET', '/current-api-key', { headers: { authorization } })
    expect([authorization, refused.status]).toEqual([authorization, 401])
  }
})

test('nothing in a request sends the browser to another host', async () => {
  for (const query of [
    '?return_to=https://evil.example',
    '?redirect_uri=https://evil.example',
    '?rd=//evil.example',
  ]) {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
    const start = await fetch(`${signInUrl()}${query}`, { redirect: 'manual', headers })
    const location = new URL(start.headers.get('location') ?? '')
    expect(location.origin).toBe(world.provider.issuer)
    expect(location.searchParams.get('redirect_uri')).toBe(`${world.service.url}/auth/callback`)
  }
  const { browser, callback } = await upToCallback()
  callback.searchParams.set('return_to', 'https://evil.example')
  const visits = await browser.visit(callback.href)
  expect(visits.url.href).toBe(`${world.service.url}/console`)
})

test('the code, the cookies and the secret of the client are in no page, and no page may be cached or framed', async () => {
  const start = await fetch(signInUrl(), { redirect: 'manual' })
  expect(Object.fromEntries(start.headers)).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
  })
  const { url, text } = await trySignIn('nora')
  const code = url.searchParams.get('code') ?? ''
  expect(code).not.toBe('')
  expect(text).not.toContain(code)
  expect((await fetch(signInUrl(), { method: 'POST' })).status).toBe(405)
})
