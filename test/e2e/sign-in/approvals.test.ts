import { afterAll, beforeAll, expect, test } from 'vitest'
import { personId } from '../../../src/access/principal.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { RECEIVER } from '../../support/service.ts'
import type { WebBrowser } from '../../support/web-browser.ts'
import { type SignInWorld, startSignInWorld } from './sign-in-world.ts'

let anvil: Anvil
let world: SignInWorld
beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  world = await startSignInWorld({}, { rpcUrls: [anvil.url], policies: { rules: { require_approval: {} } } })
})
afterAll(async () => {
  await world?.stop()
  await anvil?.stop()
})

const idOf = (subject: string) => personId({ issuer: world.provider.issuer, subject })
const personOf = (subject: string) => ({
  issuer: world.provider.issuer,
  subject,
  name: `${subject} example`,
  email: `${subject}@example.com`,
})

const send = async (browser: WebBrowser) => {
  const body = { to: RECEIVER, value: '1', speed: 'fast' }
  const { status, data } = await browser.api('POST', '/relayers/main/transactions', { body })
  expect(status).toBe(200)
  return data.id as unknown as string
}
const decide = (browser: WebBrowser, id: string, decision = 'approve') =>
  browser.api('POST', `/relayers/main/transactions/${id}/approval`, { body: { decision } })

test('a person cannot approve what they sent, in another session neither; someone else can, and both are named', async () => {
  const [lena, again, anna] = [
    await world.signedIn('lena'),
    await world.signedIn('lena'),
    await world.signedIn('anna'),
  ]
  const id = await send(lena)
  for (const own of [lena, again]) {
    const refused = await decide(own, id)
    expect([refused.status, refused.code, refused.error]).toEqual([
      403,
      'own_approval',
      `Person ${idOf('lena')} sent this transaction; another key or person must decide. The sender can cancel it.`,
    ])
  }
  const approved = await decide(anna, id)
  expect(approved.data).toMatchObject({
    state: 'approved',
    requested_by: idOf('lena'),
    requested_by_person: personOf('lena'),
    decided_by: idOf('anna'),
    decided_by_person: personOf('anna'),
  })
  const { data: listed } = await anna.api('GET', '/approvals?state=approved')
  expect(listed).toContainEqual(approved.data)
  const { body } = await world.service.api<object[]>('GET', `/audit?target_id=${id}`)
  expect(body.data).toMatchObject([
    { action: 'decideApproval', actor: idOf('anna'), person: personOf('anna') },
    { action: 'sendTransaction', actor: idOf('lena'), person: personOf('lena') },
  ])
})

test('what a person refuses says who did it', async () => {
  const [otto, anna] = [await world.signedIn('otto'), await world.signedIn('anna')]
  const id = await send(otto)
  expect((await decide(anna, id, 'refuse')).data).toMatchObject({
    state: 'refused',
    decided_by: idOf('anna'),
  })
  const { data } = await otto.api('GET', `/relayers/main/transactions/${id}`)
  expect(data.status_reason).toBe(`Person ${idOf('anna')} refused to approve it.`)
  expect((await decide(otto, id)).code).toBe('insufficient_scope')
})

test('an idempotency key of a person belongs to the person in all sessions, and to no one else', async () => {
  const [one, other, otto] = [
    await world.signedIn('lena'),
    await world.signedIn('lena'),
    await world.signedIn('otto'),
  ]
  const body = { to: RECEIVER, value: '2', speed: 'fast' }
  const headers = { 'idempotency-key': 'order-1' }
  const ids = []
  for (const browser of [one, other, otto])
    ids.push((await browser.api('POST', '/relayers/main/transactions', { body, headers })).data.id)
  expect(ids[1]).toBe(ids[0])
  expect(ids[2]).not.toBe(ids[0])
})
