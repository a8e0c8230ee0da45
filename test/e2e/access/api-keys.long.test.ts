import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPES, type Scope } from '../../../src/access/scope.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { openStream } from '../../support/event-stream.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let story: Scenario
let sent: string
beforeAll(async () => {
  story = await startScenario({ env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' } })
  sent = (await story.send({ to: RECEIVER, value: 1, speed: 'fast' })).id
  await story.reach(sent, 'submitted')
  await call('PATCH', '/relayers/other', { body: { notification_id: 'ops' } })
}, 60_000)
afterAll(() => story.stop())

interface Issued {
  readonly id: string
  readonly secret: string
  readonly secrets: readonly { readonly prefix: string; readonly expires_at?: string }[]
}

const ALL_OF_RELAYERS: readonly Scope[] = [
  'relayers:read',
  'relayers:write',
  'transactions:read',
  'transactions:write',
  'sign',
  'rpc',
  'notifications:read',
  'networks:read',
  'events:read',
  'metrics:read',
]

async function issue(body: object = {}, secret?: string): Promise<Issued> {
  const answer = await call<Issued>('POST', '/api-keys', {
    body: { name: 'Test', scopes: ALL_OF_RELAYERS, ...body },
    secret,
  })
  expect([answer.status, answer.body.error]).toEqual([201, undefined])
  return answer.body.data
}

/** A call with the secret of a key, or with the key of the environment. */
function call<Data = unknown>(
  method: string,
  path: string,
  { secret, body }: { secret?: string | undefined; body?: object } = {},
) {
  const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` }
  return story.service.api<Data>(method, path, body, headers)
}

const statusOf = async (secret: string, path = '/relayers/main') =>
  (await call('GET', path, { secret })).status

describe('the life of a key', () => {
  test('the secret is shown once, and the key works immediately', async () => {
    const { id, secret, secrets } = await issue({ id: 'life' })
    expect(secret).toMatch(/^rlk_[A-Za-z0-9_-]{43}$/)
    expect(secrets[0]?.prefix).toBe(secret.slice(0, 12))
    expect(await statusOf(secret)).toBe(200)
    for (const path of [`/api-keys/${id}`, '/api-keys'])
      expect(JSON.stringify((await call('GET', path)).body)).not.toContain(secret)
  })

  test('an id is given once, and never to two', async () => {
    const { id } = await issue()
    await call('DELETE', `/api-keys/${id}`)
    for (const taken of [id, 'root', 'operator', 'configuration']) {
      const again = await call('POST', '/api-keys', { body: { id: taken, name: 'x', scopes: ['rpc'] } })
      expect([again.status, again.body.code]).toEqual([409, 'already_exists'])
    }
  })

  test('every key can see its own rights, whatever its scopes are', async () => {
    const { id, secret } = await issue({ scopes: ['rpc'], relayers: ['main'], rules: { assets: ['native'] } })
    const own = await call('GET', '/current-api-key', { secret })
    const rights = { id, scopes: ['rpc'], relayers: ['main'], rules: { assets: ['native'] } }
    expect([own.status, own.body.data]).toEqual([200, rights])
    const root = await call<{ id: string; scopes: Scope[] }>('GET', '/current-api-key')
    expect(root.body.data).toEqual({ id: 'root', scopes: SCOPES })
    expect((await call('GET', '/current-api-key', { secret: `rlk_${'x'.repeat(43)}` })).status).toBe(401)
  })

  test('a disabled, a deleted and an unknown key answer the same', async () => {
    const [disabled, deleted] = [await issue(), await issue()]
    await call('PATCH', `/api-keys/${disabled.id}`, { body: { disabled: true } })
    await call('DELETE', `/api-keys/${deleted.id}`)
    const answers = await Promise.all(
      [disabled.secret, deleted.secret, `rlk_${'x'.repeat(43)}`].map((secret) =>
        call('GET', '/relayers', { secret }),
      ),
    )
    for (const { status, body } of answers) expect([status, body]).toEqual([401, answers[2]?.body])
    await call('PATCH', `/api-keys/${disabled.id}`, { body: { disabled: false } })
    expect(await statusOf(disabled.secret)).toBe(200)
    expect((await call('GET', `/api-keys/${deleted.id}`)).status).toBe(404)
  })

  test('two secrets overlap, and a third one ends the first', async () => {
    const first = await issue()
    const rotate = async (body: object) =>
      (await call<Issued>('POST', `/api-keys/${first.id}/rotate`, { body })).body.data
    const second = await rotate({})
    expect(second.secrets.map(({ expires_at }) => expires_at === undefined)).toEqual([true, false])
    expect(await Promise.all([first, second].map(({ secret }) => statusOf(secret)))).toEqual([200, 200])
    const third = await rotate({ overlap_seconds: 0 })
    expect(await Promise.all([first, second, third].map(({ secret }) => statusOf(secret)))).toEqual([
      401, 401, 200,
    ])
  })

  test('the audit log tells who changed it, and no secret', async () => {
    const { id, secret } = await issue()
    await call('PATCH', `/api-keys/${id}`, { body: { disabled: true } })
    const rotated = await call<Issued>('POST', `/api-keys/${id}/rotate`, { body: {} })
    await call('DELETE', `/api-keys/${id}`)
    const log = await call<{ action: string; actor: string; before?: object; after?: object }[]>(
      'GET',
      `/audit?target_type=api_key&target_id=${id}`,
    )
    expect(log.body.data.map(({ action, actor }) => [action, actor])).toEqual(
      ['deleteApiKey', 'rotateApiKey', 'updateApiKey', 'createApiKey'].map((action) => [action, 'root']),
    )
    expect(log.body.data[2]).toMatchObject({ before: { disabled: false }, after: { disabled: true } })
    for (const hidden of [secret, rotated.body.data.secret])
      expect(JSON.stringify(log.body)).not.toContain(hidden)
  })

  test('the last use is told', async () => {
    const { id, secret } = await issue()
    const before = await call<{ last_used_at?: string }>('GET', `/api-keys/${id}`)
    expect(before.body.data.last_used_at).toBeUndefined()
    expect(await statusOf(secret)).toBe(200)
  })

  test.each([
    ['an end in the past', { expires_at: '2020-01-01T00:00:00.000Z' }, 'body.expires_at'],
    ['no scope', { scopes: [] }, 'body.scopes'],
    ['an unknown scope', { scopes: ['everything'] }, 'body.scopes'],
    ['a scope that cannot be limited', { scopes: ['signers:read'], relayers: ['main'] }, 'body.scopes'],
    ['a pattern with a star inside', { relayers: ['ma*in'] }, 'body.relayers'],
    ['a name with a control character', { name: 'a\u0000b' }, 'body.name'],
    ['a network with a control character', { networks: ['evm:a\u0000'] }, 'body.networks'],
    ['a network without its type', { networks: ['sepolia'] }, 'body.networks'],
  ])('%s is refused by the name of the field', async (_what, body, field) => {
    const answer = await call('POST', '/api-keys', { body: { name: 'x', scopes: ['rpc'], ...body } })
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
    expect(answer.body.error).toContain(field)
  })
})

test.each([
  ['a list', { networks: ['evm:anvil', 'evm:sepolai'] }, 'body.networks: there is no network "evm:sepolai"'],
  [
    'a limit',
    { rules: { limits: [{ per: 'day', value: '1', network: 'evm:anvli' }] } },
    'body.rules: there is no network "evm:anvli"',
  ],
  [
    'a threshold',
    { rules: { require_approval: { above: [{ value: '1', network: 'solana:anvil' }] } } },
    'body.rules: there is no network "solana:anvil"',
  ],
])('%s that names a network that does not exist is refused', async (_what, body, says) => {
  const answer = await call('POST', '/api-keys', {
    body: { name: 'x', scopes: ['transactions:write'], ...body },
  })
  expect([answer.status, answer.body.code]).toEqual([400, 'unknown_network'])
  expect(answer.body.error).toContain(says)
})

describe('a key that may manage keys', () => {
  test('gives only what it has, and touches no stronger key', async () => {
    const admin = await issue({ scopes: ['api-keys:admin', 'api-keys:read', 'rpc'] })
    const given = await issue({ scopes: ['rpc'] }, admin.secret)
    const [entry] = (
      await call<{ actor: string }[]>('GET', `/audit?target_type=api_key&target_id=${given.id}`)
    ).body.data
    expect(entry?.actor).toBe(admin.id)
    const record = await call<{ created_by: string }>('GET', `/api-keys/${given.id}`, {
      secret: admin.secret,
    })
    expect(record.body.data.created_by).toBe(admin.id)
    const stronger = await issue({ scopes: ['sign'] })
    const attempts: [string, string, object?][] = [
      ['POST', '/api-keys', { name: 'x', scopes: ['sign'] }],
      ['PATCH', `/api-keys/${given.id}`, { scopes: ['rpc', 'sign'] }],
      ['PATCH', `/api-keys/${stronger.id}`, { disabled: true }],
      ['POST', `/api-keys/${stronger.id}/rotate`, {}],
      ['DELETE', `/api-keys/${stronger.id}`],
    ]
    for (const [method, path, body] of attempts) {
      const { status } = await call(method, path, { secret: admin.secret, ...(body && { body }) })
      expect([method, path, status]).toEqual([method, path, 400])
    }
    expect((await call('GET', '/relayers', { secret: stronger.secret })).body.code).toBe('insufficient_scope')
  })
})

describe('a key of other relayers', () => {
  test.each([
    ['an id', { relayers: ['other'] }],
    ['a beginning', { relayers: ['oth*'] }],
    ['an id and a network', { relayers: ['other'], networks: ['evm:anvil'] }],
  ])('that names %s sees these, and nothing of main', async (_what, limits) => {
    const { secret } = await issue(limits)
    const listed = await call<{ id: string }[]>('GET', '/relayers', { secret })
    expect([listed.body.data.map(({ id }) => id), listed.body.pagination?.total_items]).toEqual([
      ['other'],
      1,
    ])
    expect(await statusOf(secret, '/relayers/other')).toBe(200)
    for (const path of ['', '/status', '/balance', '/transactions', `/transactions/${sent}`]) {
      const hidden = await call('GET', `/relayers/main${path}`, { secret })
      const unknown = await call('GET', `/relayers/nobody${path}`, { secret })
      expect([hidden.status, hidden.body.error]).toEqual([404, 'There is no relayer main.'])
      expect([unknown.status, unknown.body.code]).toEqual([404, hidden.body.code])
    }
    const send = { to: RECEIVER, value: 1, speed: 'fast' }
    expect((await call('POST', '/relayers/main/transactions', { secret, body: send })).status).toBe(404)
    expect((await call('POST', '/relayers/other/transactions', { secret, body: send })).status).toBe(200)
  })

  test('sees the relayers of its network, and that network alone', async () => {
    const [here, elsewhere] = [
      await issue({ networks: ['evm:anvil'] }),
      await issue({ networks: ['evm:sepolia'] }),
    ]
    expect([await statusOf(here.secret), await statusOf(elsewhere.secret)]).toEqual([200, 404])
    const networks = await call<{ id: string }[]>('GET', '/networks', { secret: elsewhere.secret })
    expect(networks.body.data.map(({ id }) => id)).toEqual(['evm:sepolia'])
    expect(await statusOf(elsewhere.secret, '/networks/evm:anvil')).toBe(404)
    const lists = ['/relayers', '/notifications', '/events'].map((path) =>
      call<unknown[]>('GET', path, { secret: elsewhere.secret }),
    )
    for (const { body } of await Promise.all(lists)) expect(body.data).toEqual([])
  })

  test('sees the events of these, and nothing of main', async () => {
    const { secret } = await issue({ relayers: ['other'] })
    const all = await call<{ relayer_id?: string }[]>('GET', '/events?limit=100')
    expect(all.body.data.some(({ relayer_id }) => relayer_id === 'main')).toBe(true)
    const seen = await call<{ relayer_id?: string }[]>('GET', '/events?limit=100', { secret })
    expect(new Set(seen.body.data.map(({ relayer_id }) => relayer_id))).toEqual(new Set(['other']))
  })

  test('sees the deliveries of these, and nothing of main', async () => {
    const { secret } = await issue({ relayers: ['other'] })
    const path = '/notifications/ops/deliveries'
    const deliveries = async (secret?: string) =>
      (await call<Schemas['Delivery'][]>('GET', `${path}?per_page=100`, { secret })).body
    const visible = await until(
      () => deliveries(secret),
      // A list is read in two statements, and an event between them is in one alone.
      ({ data, pagination }) => data.length > 0 && pagination?.total_items === data.length,
    )
    const all = await until(deliveries, ({ data }) =>
      data.some(({ transaction_id }) => transaction_id === sent),
    )
    const events = await call<Schemas['Event'][]>('GET', '/events?limit=100')
    const relayers = new Map(events.body.data.map(({ number, relayer_id }) => [number, relayer_id]))
    const isOfOther = ({ event_number }: Schemas['Delivery']) => relayers.get(event_number) === 'other'
    expect(visible.data.filter((delivery) => !isOfOther(delivery))).toEqual([])
    for (const delivery of all.data)
      expect(await statusOf(secret, `${path}/${delivery.id}`)).toBe(isOfOther(delivery) ? 200 : 404)
  })

  test('sees the metrics of these, and nothing of main', async () => {
    const { secret } = await issue({ relayers: ['other'] })
    const metrics = await fetch(`${story.service.url}/metrics`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    const text = await metrics.text()
    expect(text).toContain('relayer_id="other"')
    expect(text).not.toContain('main')
    expect(text).not.toContain('process_cpu')
  })

  test('connects them with no record that it does not see', async () => {
    const { secret } = await issue({ relayers: ['other'] })
    await call('POST', '/notifications', {
      body: { id: 'theirs', type: 'webhook', url: 'https://example.com' },
    })
    const change = async (body: object) => {
      const answer = await call('PATCH', '/relayers/other', { secret, body })
      return [answer.status, answer.body.code]
    }
    expect(await change({ notification_id: 'theirs' })).toEqual([404, 'notification_not_found'])
    expect(await change({ notification_id: 'nobody' })).toEqual([404, 'notification_not_found'])
    expect(await change({ signer_id: 'dev-0' })).toEqual([403, 'insufficient_scope'])
    expect(await change({ notification_id: 'ops', paused: false })).toEqual([200, undefined])
  })

  test('follows the events of these, by itself and with a ticket', async () => {
    const { secret } = await issue({ relayers: ['other'] })
    const stream = await openStream(story.service.url, { headers: { authorization: `Bearer ${secret}` } })
    const ticket = (await call<{ ticket: string }>('POST', '/events/stream-tickets', { secret, body: {} }))
      .body.data
    const page = await fetch(
      `${story.service.url}/api/v1/events/stream?ticket=${ticket.ticket}&after=0&duration=0`,
    )
    expect(await page.text()).not.toContain('"relayer_id":"main"')
    for (const relayer of ['main', 'other'])
      await call('POST', `/relayers/${relayer}/transactions`, {
        body: { to: RECEIVER, value: 1, speed: 'fast' },
      })
    let frame = await stream.next()
    while (frame !== undefined && frame.data === undefined) frame = await stream.next()
    expect(JSON.parse(frame?.data ?? '{}')).toMatchObject({ relayer_id: 'other' })
    await stream.close()
  })
})

test('a stream ends when its key loses a right', async () => {
  const { id, secret } = await issue()
  const stream = await openStream(story.service.url, { headers: { authorization: `Bearer ${secret}` } })
  const ended = stream.rest()
  await call('PATCH', `/api-keys/${id}`, { body: { scopes: ['rpc'] } })
  await ended
  const refused = await openStream(story.service.url, { headers: { authorization: `Bearer ${secret}` } })
  expect(refused.status).toBe(403)
})
