import { createHmac } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Answer, NOWHERE, type Service, SIGNING_KEY, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

type Notification = Schemas['Notification']
type Delivery = Schemas['DeliveryWithExchange']

const KEY = 'the-signing-key-of-a-caller-has-43-characters'
const SEALING = { STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 'sealing').toString('base64') }
const ALLOWED = { ...SEALING, RELAYER_ALLOW_PRIVATE_URLS: 'true' }
const RPC = { rpcUrls: ['http://127.0.0.1:9'] }

let receiver: Receiver
let service: Service

beforeAll(async () => {
  receiver = await startReceiver()
  service = await startService({ ...RPC, env: ALLOWED })
}, 60_000)
afterAll(async () => {
  await service.stop()
  await receiver.stop()
})
beforeEach(() => receiver.behave(() => 204))

const call = (method: string, id: string, body?: object, headers?: Record<string, string>) =>
  service.api<Notification>(method, `/notifications/${id}`, body, headers)
const create = (body: object) => service.api<Notification>('POST', '/notifications', body)

/** What came at the receiver for a test event of this notification. */
async function testEvent(id: string, { api }: Service = service) {
  const { body } = await api<{ event_id: string }>('POST', `/notifications/${id}/test`)
  const came = await until(
    async () => receiver.received.find((one) => one.body.id === body.data.event_id),
    (one) => one !== undefined,
  )
  return { text: came?.text ?? '', signature: came?.headers['x-signature'] }
}

const signatureOf = (key: string, text: string) => createHmac('sha256', key).update(text).digest('base64')

function expectRefusal(answer: Answer, expected: RegExp, code = 'invalid_request'): void {
  expect([answer.status, answer.body.code]).toEqual([400, code])
  expect(answer.body.error).toMatch(expected)
}

describe('a notification', () => {
  test('is created, listed, shown, gets events, and is deleted', async () => {
    const created = await create({ id: 'mine', url: receiver.url, signing_key: KEY })
    const shown = { id: 'mine', type: 'webhook', url: receiver.url, has_signing_key: true }
    expect([created.status, created.body]).toEqual([201, { success: true, data: shown }])
    expect((await call('GET', 'mine')).body.data).toEqual(shown)
    const { body: list } = await service.api<Notification[]>('GET', '/notifications')
    expect(list.data.map(({ id }) => id)).toEqual(['ops', 'mine'])
    const { text, signature } = await testEvent('mine')
    expect(signature).toBe(signatureOf(KEY, text))
    const deleted = await call('DELETE', 'mine')
    expect([deleted.status, deleted.body.data]).toEqual([200, 'Notification deleted successfully'])
    expect((await call('GET', 'mine')).body.code).toBe('notification_not_found')
    expect((await call('DELETE', 'mine')).status).toBe(404)
    expect((await call('PATCH', 'mine', { url: receiver.url })).status).toBe(404)
  })

  test('gets a new id when none is given, and no key', async () => {
    const { body } = await create({ url: receiver.url })
    expect(body.data).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), has_signing_key: false })
    expect((await testEvent(body.data.id)).signature).toBeUndefined()
    await call('DELETE', body.data.id)
  })

  test.each<[string, object, RegExp]>([
    ['no url', {}, /^body\.url: expected the destination/],
    ['a url of null', { url: null }, /^body\.url: expected a string/],
    [
      'something that is no url',
      { url: 'example.com' },
      /^body\.url: expected an http:\/\/ or https:\/\/ url/,
    ],
    ['a file', { url: 'file:///etc/passwd' }, /^body\.url: expected an http/],
    ['a url with a NUL', { url: 'http://a.example/\u0000' }, /^body\.url: expected an http/],
    ['a metadata service', { url: 'http://169.254.169.254/' }, /^body\.url: .*never allowed/],
    ['a short key', { url: NOWHERE, signing_key: 'short' }, /^body\.signing_key: expected at least 32/],
    ['another type', { url: NOWHERE, type: 'telegram' }, /^body\.type: expected one of webhook/],
    ['an id with a point', { url: NOWHERE, id: '.ops' }, /^body\.id/],
    ['another field', { url: NOWHERE, paused: true }, /^body\.paused: there is no such field/],
  ])('with %s is 400', async (_name, body, expected) => {
    expectRefusal(await create(body), expected)
  })

  test('is created once; an id of the file is in use', async () => {
    const body = { id: 'twice', url: receiver.url }
    const answers = await Promise.all([create(body), create(body)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
    expect((await create({ ...body, id: 'ops' })).body).toMatchObject({
      message: 'Conflict',
      code: 'already_exists',
    })
    await call('DELETE', 'twice')
  })

  test('that a relayer tells of its events is not deleted', async () => {
    expectRefusal(await call('DELETE', 'ops'), /used by "main"/, 'in_use')
    expect((await call('GET', 'ops')).status).toBe(200)
  })
})

describe('a change of a notification', () => {
  test('of the url leaves its key; of the key leaves its url; and nothing changes nothing', async () => {
    await create({ id: 'moves', url: NOWHERE, signing_key: KEY })
    const merge = { 'content-type': 'application/merge-patch+json' }
    const moved = await call('PATCH', 'moves', { url: receiver.url }, merge)
    expect(moved.body.data).toEqual({
      id: 'moves',
      type: 'webhook',
      url: receiver.url,
      has_signing_key: true,
    })
    const first = await testEvent('moves')
    expect(first.signature).toBe(signatureOf(KEY, first.text))
    const another = `${KEY}-another`
    expect((await call('PATCH', 'moves', { signing_key: another })).status).toBe(200)
    const second = await testEvent('moves')
    expect(second.signature).toBe(signatureOf(another, second.text))
    expect((await call('PATCH', 'moves', {})).body.data).toEqual(moved.body.data)
    await call('DELETE', 'moves')
  })

  test.each([null, ''])('to the signing key %j ends the signing', async (signing_key) => {
    await create({ id: 'unsigned', url: receiver.url, signing_key: KEY })
    const { body } = await call('PATCH', 'unsigned', { signing_key })
    expect(body.data).toMatchObject({ has_signing_key: false })
    expect((await testEvent('unsigned')).signature).toBeUndefined()
    await call('DELETE', 'unsigned')
  })

  test.each<[object, RegExp]>([
    [{ url: null }, /^body\.url: expected a string/],
    [{ type: null }, /^body\.type/],
    [{ url: 'ftp://example.com' }, /^body\.url/],
    [{ signing_key: 'short' }, /^body\.signing_key: expected a text of at least 32 characters, or null/],
    [{ id: 'other' }, /^body\.id: there is no such field/],
  ])('%j is 400', async (body, expected) => {
    expectRefusal(await call('PATCH', 'ops', body), expected)
  })

  test('to another url lets one go on whose receiver was gone, with what waited', async () => {
    receiver.behave(() => 410)
    await create({ id: 'gone', url: receiver.url })
    await testEvent('gone')
    await until(
      () => call('GET', 'gone'),
      ({ body }) => body.data.paused_reason === 'gone',
    )
    receiver.behave(() => 204)
    const { body: later } = await service.api<{ event_id: string }>('POST', '/notifications/gone/test')
    const { body } = await call('PATCH', 'gone', { url: `${receiver.url}/again` })
    expect(body.data).not.toHaveProperty('paused')
    await until(
      async () => receiver.received.some((one) => one.body.id === later.data.event_id),
      (came) => came,
    )
    await call('DELETE', 'gone')
  })

  test('outlives what the receiver of before says: its 410 pauses nothing', async () => {
    const held: ServerResponse[] = []
    receiver.behave(() => (response) => void held.push(response))
    await create({ id: 'moved', url: receiver.url })
    await service.api('POST', '/notifications/moved/test')
    await until(
      async () => held.length,
      (count) => count > 0,
    )
    await call('PATCH', 'moved', { url: `${receiver.url}/moved` })
    for (const response of held) response.writeHead(410).end()
    await until(
      () => service.api<Delivery[]>('GET', '/notifications/moved/deliveries'),
      ({ body }) => body.data[0]?.response_code === 410,
    )
    expect((await call('GET', 'moved')).body.data).not.toHaveProperty('paused')
    await call('DELETE', 'moved')
  })

  test('is served with another at the same time: each field has one of the wanted values', async () => {
    await create({ id: 'raced', url: NOWHERE })
    const urls = Array.from({ length: 8 }, (_, index) => `${NOWHERE}/${index}`)
    const answers = await Promise.all([
      ...urls.map((url) => call('PATCH', 'raced', { url })),
      call('PATCH', 'raced', { signing_key: KEY }),
    ])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const { body } = await call('GET', 'raced')
    expect(urls).toContain(body.data.url)
    expect(body.data.has_signing_key).toBe(true)
    await call('DELETE', 'raced')
  })
})

test('a notification that is deleted and created again delivers no earlier events', async () => {
  receiver.behave(() => 500)
  await create({ id: 'again', url: receiver.url })
  const old = await testEvent('again')
  expect((await call('DELETE', 'again')).status).toBe(200)
  receiver.behave(() => 204)
  expect((await create({ id: 'again', url: receiver.url })).status).toBe(201)
  const before = receiver.received.filter(({ text }) => text === old.text).length
  await testEvent('again')
  const { body } = await service.api<Delivery[]>('GET', '/notifications/again/deliveries')
  expect(body.pagination?.total_items).toBe(1)
  expect(receiver.received.filter(({ text }) => text === old.text)).toHaveLength(before)
  await call('DELETE', 'again')
})

test('a deployment that cannot keep keys takes none, and goes on with those of its file', async () => {
  const plain = await startService({ ...RPC, env: { RELAYER_ALLOW_PRIVATE_URLS: 'true' } })
  onTestFinished(() => plain.stop())
  const signed = { id: 'signed', url: receiver.url, signing_key: KEY }
  expectRefusal(await plain.api('POST', '/notifications', signed), /STORAGE_ENCRYPTION_KEY/, 'not_supported')
  expect((await plain.api('GET', '/notifications/signed')).status).toBe(404)
  for (const signing_key of [null, KEY])
    expectRefusal(
      await plain.api('PATCH', '/notifications/ops', { signing_key }),
      /STORAGE_ENCRYPTION_KEY/,
      'not_supported',
    )
  expect((await plain.api('PATCH', '/notifications/ops', { url: receiver.url })).status).toBe(200)
  const { text, signature } = await testEvent('ops', plain)
  expect(signature).toBe(signatureOf(SIGNING_KEY, text))
})

test('what callers made of a notification of the file stays, until its entry changes', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'relayer-notifications-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const relayer = { id: 'main', name: 'Main', network: 'anvil', network_type: 'evm', signer_id: 'dev-0' }
  const start = (notificationUrl: string) =>
    startService({
      ...RPC,
      env: ALLOWED,
      dataDir,
      notificationUrl,
      relayers: [{ ...relayer, paused: false }],
    })
  const ops = async ({ api }: Service) => (await api<Notification>('GET', '/notifications/ops')).body

  const first = await start(NOWHERE)
  await first.api('PATCH', '/notifications/ops', { url: receiver.url, signing_key: null })
  await first.stop()

  const second = await start(NOWHERE)
  expect((await ops(second)).data).toMatchObject({ url: receiver.url, has_signing_key: false })
  expect((await testEvent('ops', second)).signature).toBeUndefined()
  await second.stop()

  const third = await start(`${receiver.url}/changed`)
  expect((await ops(third)).data).toMatchObject({
    url: receiver.url.replace(/hook$/, '***'),
    has_signing_key: true,
  })
  const { text, signature } = await testEvent('ops', third)
  expect(signature).toBe(signatureOf(SIGNING_KEY, text))
  expect((await third.api('DELETE', '/notifications/ops')).status).toBe(200)
  await third.stop()

  const fourth = await start(`${receiver.url}/changed`)
  expect((await ops(fourth)).code).toBe('notification_not_found')
  const taken = await fourth.api('POST', '/notifications', { id: 'ops', url: receiver.url })
  expect(taken.status).toBe(409)
  await fourth.stop()

  const fifth = await start(`${receiver.url}/again`)
  expect((await ops(fifth)).data).toMatchObject({
    url: receiver.url.replace(/hook$/, '***'),
    has_signing_key: true,
  })
  await fifth.stop()
}, 60_000)
