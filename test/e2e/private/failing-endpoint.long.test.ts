import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { taken } from '../../support/private-endpoint.ts'
import type { WireAnswer, WireCall } from '../../support/rpc-server.ts'
import { RECEIVER, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { type PrivateScenario, startPrivateScenario } from './scenario.ts'

/** Longer than a failing endpoint rests, and than the service waits until it broadcasts again, in ms. */
const LATER_MS = 61_000

let story: PrivateScenario

beforeEach(async () => {
  story = await startPrivateScenario()
})
afterEach(() => story.stop())

const replyTo = (calls: readonly WireCall[], reply: object): WireAnswer => {
  const replies = calls.map(({ id }) => ({ jsonrpc: '2.0', id, ...reply }))
  return { body: replies.length === 1 ? replies[0] : replies }
}
const refuse = (message: string) => (calls: readonly WireCall[]) =>
  replyTo(calls, { error: { code: -32000, message } })

const findings = async (id: string) => {
  const path = `/relayers/main/transactions/${id}/diagnosis`
  const { body } = await story.service.api<{ findings: { code: string; message: string }[] }>('GET', path)
  return body.data.findings
}

const waiting = (id: string): Promise<Transaction> =>
  until(
    () => story.get(id),
    ({ status, status_reason }) => status === 'sent' && status_reason !== undefined,
  )

async function recovers(id: string): Promise<void> {
  story.endpoint.behave(undefined)
  await until(
    async () => {
      story.clock.advance(LATER_MS)
      return story.get(id)
    },
    ({ status }) => status === 'submitted',
  )
  expect(await story.publicCount()).toBe(0)
  await story.endpoint.include(story.anvil)
  await story.mine(2)
  const confirmed = await story.reach(id, 'confirmed')
  expect(confirmed.attempts).toHaveLength(1)
}

describe('a transaction waits with a reason, and goes on when its private endpoint', () => {
  test.each<[string, (calls: readonly WireCall[]) => WireAnswer]>([
    ['closed the connection', () => 'cut'],
    ['answered HTML', () => ({ text: '<html>Bad gateway</html>' })],
    ['answered HTTP 500', () => ({ status: 500, text: '' })],
    ['refused the bytes permanently', refuse('invalid sender')],
    ['refused the gas limit', refuse('intrinsic gas too low')],
    ['answered an error that no one knows', refuse('bundle simulation failed')],
  ])('%s', async (_name, behaviour) => {
    story.endpoint.behave(behaviour)
    const { id } = await story.send({ to: RECEIVER, value: 1 })
    const { status_reason: reason } = await waiting(id)
    expect(reason).toContain('private endpoint 127.0.0.1')
    expect(await findings(id)).toMatchObject([
      { code: 'not_taken', message: expect.stringContaining(reason ?? '') },
    ])
    expect(await story.publicCount()).toBe(0)
    await recovers(id)
  })
})

test('a private endpoint that took the bytes and lost its answer makes no second payment', async () => {
  story.endpoint.behave(() => 'cut')
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  await waiting(id)
  await story.endpoint.include(story.anvil)
  await story.mine(2)
  const confirmed = await story.reach(id, 'confirmed')
  expect(confirmed.attempts).toHaveLength(1)
  expect(await story.minedHash(confirmed.from, confirmed.nonce ?? 0)).toBe(confirmed.hash)
})

test('a wrong hash in the answer changes nothing: the hash is that of the signed bytes', async () => {
  story.endpoint.behave((calls) => replyTo(calls, { result: `0x${'00'.repeat(32)}` }))
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  const { hash } = await story.reach(id, 'submitted')
  await story.endpoint.include(story.anvil)
  await story.mine(2)
  expect(await story.reach(id, 'confirmed')).toMatchObject({ hash })
})

test('without private endpoints nothing is broadcast, also after a restart, until there are some again', async () => {
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  await story.reach(id, 'submitted')
  const patch = (urls: readonly string[]) =>
    story.service.api('PATCH', '/networks/evm:anvil', { private_rpc_urls: urls })
  expect((await patch([])).status).toBe(200)
  const later = await story.send({ to: RECEIVER, value: 2 })
  const { status_reason } = await waiting(later.id)
  expect(status_reason).toContain('private_rpc_urls')
  expect((await findings(later.id)).map(({ code }) => code)).toContain('no_private_endpoint')
  story = await story.restart()
  story.clock.advance(LATER_MS)
  await waiting(later.id)
  const paused = await story.service.api('PATCH', '/relayers/main', { paused: true })
  expect(paused.status).toBe(200)
  expect((await story.service.api('PATCH', '/relayers/main', { paused: false })).status).toBe(200)
  await story.mine(5)
  expect(await story.publicCount()).toBe(0)
  const before = story.endpoint.raws.length
  const again = () =>
    story.service.api('PATCH', '/networks/evm:anvil', { private_rpc_urls: [story.endpoint.url] })
  expect((await again()).status).toBe(200)
  story.clock.advance(LATER_MS)
  await story.handedOver(before + 1)
  await story.reach(later.id, 'submitted')
  expect(await story.publicCount()).toBe(0)
})

test('an endpoint that answers twice or late changes nothing', async () => {
  let calls = 0
  story.endpoint.behave((asked) => {
    calls += 1
    return calls === 1 ? taken(asked) : refuse('already known')(asked)
  })
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  await story.reach(id, 'submitted')
  story.clock.advance(LATER_MS)
  await story.handedOver(2)
  expect(await story.get(id)).toMatchObject({ status: 'submitted' })
  expect(await story.publicCount()).toBe(0)
})
