import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { startService } from '../../support/service.ts'
import { openWebBrowser } from '../../support/web-browser.ts'
import { startSignInWorld } from './sign-in-world.ts'

/** The longest time for an answer, in ms: the limit of four calls to the provider, each of 5 s. */
const ANSWER_MS = 20_000

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** Starts a provider that answers every request like this, and a service that is configured for it. */
async function startWith(answer: (issuer: string) => RequestListener) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  server.on('request', answer(issuer))
  const service = await startService({
    rpcUrls: [],
    relayers: [],
    env: { RELAYER_PUBLIC_URL: 'https://relayer.example' },
    signIn: {
      issuer,
      client_id: 'relayer',
      roles_claim: 'groups',
      roles: { admins: 'admin' },
    },
  })
  stops.push(
    async () => {
      server.closeAllConnections()
      server.close()
    },
    () => service.stop(),
  )
  return service
}

const json = (content: unknown): RequestListener => {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(content))
  }
}

describe('a provider whose discovery fails costs a page, and nothing else', () => {
  const PROVIDERS: Record<string, (issuer: string) => RequestListener> = {
    'it closes the connection': () => (request) => request.socket.destroy(),
    'it never answers': () => () => {},
    'it never ends its answer': () => (_request, response) => void response.write('{'),
    'it answers 500': () => (_request, response) => void response.writeHead(500).end('<html>'),
    'it answers with HTML': () => (_request, response) => void response.end('<html>'),
    'it redirects': () => (_request, response) =>
      void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
    'it names another issuer': () =>
      json({ issuer: 'https://login.example.com', authorization_endpoint: 'https://login.example.com/auth' }),
    'it has no authorization endpoint': (issuer) => json({ issuer }),
    'it sends more than anyone needs': () => (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(`{"issuer":"${'x'.repeat(2_000_000)}"}`)
    },
  }

  test.each(Object.keys(PROVIDERS))('%s', async (name) => {
    const service = await startWith(PROVIDERS[name] ?? (() => () => {}))
    const begun = performance.now()
    const answer = await fetch(`${service.url}/auth/sign-in`, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
    expect(await answer.text()).toContain('You are not signed in')
    expect(performance.now() - begun).toBeLessThan(ANSWER_MS)
    expect((await service.api('GET', '/current-api-key')).status).toBe(200)
  })
})

test('the service starts while no provider is there, and signs people in when it is back', async () => {
  const port = await freePort()
  const service = await startService({
    rpcUrls: [],
    relayers: [],
    env: { RELAYER_PUBLIC_URL: 'https://relayer.example' },
    signIn: {
      issuer: `http://127.0.0.1:${port}`,
      client_id: 'relayer',
      roles_claim: 'groups',
      roles: { admins: 'admin' },
    },
  })
  stops.push(() => service.stop())
  const open = () => fetch(`${service.url}/auth/sign-in`, { redirect: 'manual' })
  expect((await open()).status).toBe(400)
  const issuer = `http://127.0.0.1:${port}`
  const server = createServer(json({ issuer, authorization_endpoint: `${issuer}/auth` }))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  stops.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  const answer = await open()
  expect([answer.status, answer.headers.get('location')]).toEqual([
    303,
    expect.stringContaining(`${issuer}/auth?`),
  ])
})

test('a token endpoint that never answers costs a page within the limit', async () => {
  const world = await startSignInWorld()
  stops.push(() => world.stop())
  world.provider.tamper = () => new Promise(() => {})
  world.provider.user = 'ada'
  const begun = performance.now()
  const { status, text } = await openWebBrowser(world.service.url).visit(`${world.service.url}/auth/sign-in`)
  expect([status, text]).toEqual([400, expect.stringContaining('The provider does not answer')])
  expect(performance.now() - begun).toBeLessThan(ANSWER_MS)
})

test('without the entry sign_in there are no such pages, and a cookie has no effect', async () => {
  const service = await startService({ rpcUrls: [], relayers: [] })
  stops.push(() => service.stop())
  const headers = {
    authorization: '',
    cookie: `__Host-relayer-session=${'x'.repeat(43)}`,
    'x-csrf-protection': '1',
  }
  expect((await fetch(`${service.url}/auth/sign-in`)).status).toBe(401)
  expect(await (await fetch(`${service.url}/console`)).text()).not.toContain('name="sign-in"')
  const { authorization: _, ...cookies } = headers
  expect((await fetch(`${service.url}/api/v1/current-api-key`, { headers: cookies })).status).toBe(401)
  expect((await service.api<unknown[]>('GET', '/sessions')).body.data).toEqual([])
  expect((await service.api('DELETE', '/sessions/x')).body.code).toBe('session_not_found')
  expect((await service.api('DELETE', '/current-session')).status).toBe(400)
})
