import { afterAll, beforeAll, expect, test } from 'vitest'
import { SESSION_COOKIE } from '../../../src/http/cookies.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import type { WebBrowser } from '../../support/web-browser.ts'
import { type SignInWorld, startSignInWorld } from './sign-in-world.ts'

let postgres: PostgresServer
let world: SignInWorld
let other: Service
beforeAll(async () => {
  postgres = await startPostgres()
  const databaseUrl = await postgres.createDatabase()
  world = await startSignInWorld({}, { rpcUrls: [], relayers: [], databaseUrl })
  const env = { RELAYER_PUBLIC_URL: world.service.url }
  other = await startService({ rpcUrls: [], relayers: [], databaseUrl, env, signIn: world.settings })
}, 60_000)
afterAll(async () => {
  await other?.stop()
  await world?.stop()
  await postgres?.stop()
})

/** Asks the other process with the cookie that the first one gave, as a proxy in front of both would. */
const statusAtOther = async (browser: WebBrowser) => {
  const cookie = `${SESSION_COOKIE}=${browser.cookies(world.service.url).get(SESSION_COOKIE)}`
  const headers = { cookie, origin: world.service.url, 'x-csrf-protection': '1' }
  return (await fetch(`${other.url}/api/v1/current-api-key`, { headers })).status
}

test('a session that one process began is accepted by the other, and refused there after the sign-out', async () => {
  const browser = await world.signedIn('vera')
  await until(
    () => statusAtOther(browser),
    (status) => status === 200,
  )
  expect((await browser.api('DELETE', '/current-session')).status).toBe(200)
  await until(
    () => statusAtOther(browser),
    (status) => status === 401,
  )
})

test('people who sign in and out at the same time at both processes block no one', async () => {
  const browsers = await Promise.all(['vera', 'otto', 'anna', 'udo'].map((one) => signInAndOut(one)))
  expect(browsers).toEqual([200, 200, 200, 200])
})

/** One after the other for one person, because the provider signs in whom it is told to. */
let turn: Promise<unknown> = Promise.resolve()
async function signInAndOut(subject: string): Promise<number> {
  const signingIn = turn.then(() => world.signedIn(subject))
  turn = signingIn
  const browser = await signingIn
  const answers = await Promise.all([
    browser.api('DELETE', '/current-session'),
    other.api('GET', '/sessions'),
    other.api('GET', '/audit?limit=5'),
  ])
  return answers[0].status
}
