import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createRelayerClient,
  type RelayerClient,
  RelayerConnectionError,
  type RelayerEvent,
  TransactionEndedError,
  verifyWebhook,
  WaitTimeoutError,
} from '../../clients/typescript/src/index.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { API_KEY, RECEIVER, SIGNING_KEY } from '../support/service.ts'
import { startUnreliableProxy, type UnreliableProxy } from '../support/unreliable-proxy.ts'
import { runReadmeProgram } from './readme-program.ts'

/** Wei that a double cannot hold. */
const AMOUNT = 2n ** 70n + 1n
const PAYMENT = { to: RECEIVER, value: 1n, speed: 'fast' } as const
const TRANSACTIONS = '/api/v1/relayers/main/transactions'

let story: Scenario
let receiver: Receiver
let proxy: UnreliableProxy
/** No one listens there any more. */
let gone: UnreliableProxy
let client: RelayerClient
/** The same service behind the proxy. */
let shaky: RelayerClient

beforeAll(async () => {
  receiver = await startReceiver()
  story = await startScenario({ notificationUrl: receiver.url })
  proxy = await startUnreliableProxy(story.service.url)
  gone = await startUnreliableProxy(story.service.url)
  await gone.stop()
  client = createRelayerClient({ baseUrl: story.service.url, apiKey: API_KEY })
  shaky = createRelayerClient({ baseUrl: proxy.url, apiKey: async () => API_KEY })
}, 60_000)
afterAll(async () => {
  await proxy.stop()
  await story.stop()
  await receiver.stop()
})

/** Resolves to the error with which a promise rejects. */
const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) collected.push(item)
  return collected
}

async function clientWith(scopes: Parameters<RelayerClient['apiKeys']['create']>[0]['scopes']) {
  const { secret } = await client.apiKeys.create({ name: 'Limited', scopes })
  return createRelayerClient({ baseUrl: story.service.url, apiKey: secret })
}

const streamsOpened = () => proxy.passed.filter((request) => request.endsWith('/events/stream')).length

async function sentCount(): Promise<number> {
  const { pagination } = await client.transactions.list('main').page()
  return pagination?.total_items ?? Number.NaN
}

describe('integers', () => {
  test('go out and come back exactly, however large', async () => {
    const { policies } = await client.relayers.update('main', {
      policies: { gas_price_cap: AMOUNT, min_balance: 0 },
    })
    expect(policies).toMatchObject({ gas_price_cap: AMOUNT, min_balance: 0n })
    const { id } = await client.transactions.send('main', { ...PAYMENT, value: AMOUNT })
    const sent = await client.transactions.waitFor('main', id, 'submitted')
    expect(sent).toMatchObject({ value: String(AMOUNT), nonce: 0n })
    expect((await client.relayers.getBalance('other')).balance).toBe(10n ** 22n)
    const { data } = await client.http.GET('/api/v1/relayers/{relayer_id}', {
      params: { path: { relayer_id: 'main' } },
    })
    expect(data?.data.policies).toMatchObject({ gas_price_cap: AMOUNT })
  })

  test('of an answer of JSON-RPC are as the node wrote them', async () => {
    const body = { jsonrpc: '2.0', method: 'eth_getBlockByNumber', params: ['0x0', false], id: 7 } as const
    expect(await client.relayers.callRpc('main', body)).toMatchObject({
      id: 7,
      result: { nonce: '0x0000000000000000' },
    })
  })
})

describe('a lost answer', () => {
  test('of a send leads to one transaction, with the same key in each try', async () => {
    const before = await sentCount()
    proxy.loseNextAnswer()
    const { id } = await shaky.transactions.send('main', PAYMENT)
    expect(proxy.passed).toEqual([`POST ${TRANSACTIONS}`, `POST ${TRANSACTIONS}`])
    expect(await sentCount()).toBe(before + 1)
    expect(await client.transactions.get('main', id)).toMatchObject({ id, value: '1' })
  })

  test('of a batch leads to one transaction for each item, anyone who made the keys', async () => {
    const before = await sentCount()
    proxy.loseNextAnswer()
    const transactions = [PAYMENT, { ...PAYMENT, idempotency_key: 'item-of-mine' }, PAYMENT]
    const sent = await shaky.transactions.sendBatch('main', { transactions })
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3)
    expect(await sentCount()).toBe(before + 3)
    const [again] = await client.transactions.sendBatch('main', { transactions: transactions.slice(1, 2) })
    expect(again?.id).toBe(sent[1]?.id)
  })

  test('of a replacement is told, because it could take effect twice', async () => {
    const { id } = await client.transactions.send('main', PAYMENT)
    proxy.loseNextAnswer()
    const tried = proxy.passed.length
    const error = await errorOf(shaky.transactions.replace('main', id, { ...PAYMENT, value: 2n }))
    expect(error).toBeInstanceOf(RelayerConnectionError)
    expect(error).toMatchObject({ mayHaveArrived: true, idempotencyKey: undefined })
    expect(proxy.passed.slice(tried)).toEqual([`PUT ${TRANSACTIONS}/${id}`])
  })

  test('of a read is repeated', async () => {
    proxy.loseNextAnswer()
    expect((await shaky.relayers.get('main')).id).toBe('main')
  })

  test('that never comes names the key with which the caller can repeat', async () => {
    const nobody = createRelayerClient({ baseUrl: gone.url, apiKey: API_KEY, maxRetries: 1 })
    const error = await errorOf(nobody.transactions.send('main', PAYMENT, { idempotencyKey: 'mine' }))
    expect(error).toMatchObject({
      name: 'RelayerConnectionError',
      mayHaveArrived: false,
      idempotencyKey: 'mine',
    })
    expect(String(error)).not.toContain(API_KEY)
  })
})

test('a dry run changes nothing', async () => {
  const before = await sentCount()
  const { dry_run } = await client.transactions.send('main', PAYMENT, { dry_run: true })
  expect([dry_run, await sentCount()]).toEqual([true, before])
})

describe('waitFor', () => {
  test('shares one event stream among all waits, and works without the scope for it', async () => {
    const reader = await clientWith(['relayers:read', 'transactions:read'])
    const sent = await Promise.all([1, 2, 3].map(() => client.transactions.send('main', PAYMENT)))
    const before = streamsOpened()
    const mined = [shaky, shaky, reader].map((each, at) =>
      each.transactions.waitFor('main', sent[at]?.id ?? '', 'confirmed', { timeoutMs: 20_000 }),
    )
    await Promise.all(sent.map(({ id }) => client.transactions.waitFor('main', id, 'submitted')))
    await story.settle()
    const signed = await client.transactions.waitFor('main', sent[0]?.id ?? '', 'sent')
    expect(signed.attempts?.length).toBeGreaterThan(0)
    expect((await Promise.all(mined)).map(({ status }) => status)).toEqual(Array(3).fill('confirmed'))
    expect(streamsOpened() - before).toBe(1)
  })

  test('ends behind a proxy that keeps what streams say', async () => {
    const buffering = await startUnreliableProxy(story.service.url)
    buffering.bufferStreams()
    const behind = createRelayerClient({ baseUrl: buffering.url, apiKey: API_KEY })
    const { id } = await behind.transactions.send('main', PAYMENT)
    expect((await behind.transactions.waitFor('main', id, 'submitted')).id).toBe(id)
    await buffering.stop()
  })

  test('ends with the transaction, the time or the signal', async () => {
    const { id } = await client.transactions.send('main', PAYMENT)
    await client.transactions.waitFor('main', id, 'submitted')
    const late = await errorOf(client.transactions.waitFor('main', id, 'mined', { timeoutMs: 1 }))
    expect(late).toBeInstanceOf(WaitTimeoutError)
    const reason = new Error('not any more')
    const signal = AbortSignal.abort(reason)
    expect(await errorOf(client.transactions.waitFor('main', id, 'mined', { signal }))).toBe(reason)
    const { hash } = await client.transactions.cancel('main', id)
    // The no-op of a cancellation is in the pool and in a block before it is final.
    const wait = errorOf(client.transactions.waitFor('main', id, 'submitted'))
    await expect.poll(() => story.anvil.rpc('eth_getTransactionByHash', [hash])).not.toBeNull()
    await story.settle()
    const ended = await wait
    expect(ended).toBeInstanceOf(TransactionEndedError)
    expect(ended).toMatchObject({ transaction: { id, status: 'canceled' } })
  })

  test('does not wait for what it may not see', async () => {
    const wait = client.transactions.waitFor('main', 'no-such-transaction', 'mined')
    expect(await errorOf(wait)).toMatchObject({ name: 'NotFoundError', code: 'transaction_not_found' })
  })
})

describe('events.follow', () => {
  test('loses and repeats nothing when the connection is cut in the middle of an event, and again', async () => {
    const after = (await collect(client.events.list())).at(-1)?.number ?? '0'
    const sent = await Promise.all([1, 2, 3, 4].map(() => client.transactions.send('main', PAYMENT)))
    await Promise.all(sent.map(({ id }) => client.transactions.waitFor('main', id, 'submitted')))
    const all = (await collect(client.events.list({ after }))).map(({ number }) => number)
    // About three events, and a part of the next one.
    proxy.limitStreams(4_000)
    const before = streamsOpened()
    const seen: string[] = []
    for await (const { number } of shaky.events.follow({ after })) if (seen.push(number) >= all.length) break
    proxy.limitStreams(undefined)
    expect(seen).toEqual(all)
    expect(streamsOpened() - before).toBeGreaterThan(2)
  })

  test('ends with the signal, and closes the connection', async () => {
    const stop = new AbortController()
    const next = shaky.events.follow({ signal: stop.signal })[Symbol.asyncIterator]().next()
    await expect.poll(() => proxy.streams.size).toBe(1)
    stop.abort()
    expect(await errorOf(Promise.resolve(next))).toBe(stop.signal.reason)
    await expect.poll(() => proxy.streams.size).toBe(0)
  })

  test('misses nothing from now on when the connection is cut before the first event', async () => {
    await expect.poll(() => proxy.streams.size).toBe(0)
    const events = shaky.events.follow({ relayer_id: 'main' })[Symbol.asyncIterator]()
    const first = events.next() as Promise<IteratorResult<RelayerEvent>>
    await expect.poll(() => proxy.streams.size).toBe(1)
    proxy.cutStreams()
    const { id } = await client.transactions.send('main', PAYMENT)
    expect((await first).value).toMatchObject({ transaction_id: id, payload: { status: 'pending' } })
    await events.return?.()
  })

  test('is refused to a key that may not read events', async () => {
    const reader = await clientWith(['relayers:read'])
    const first = reader.events.follow()[Symbol.asyncIterator]().next()
    expect(await errorOf(first)).toMatchObject({ name: 'ForbiddenError', code: 'insufficient_scope' })
  })
})

test('a signal ends a call between its tries', async () => {
  const stop = new AbortController()
  let tries = 0
  const nobody = createRelayerClient({
    baseUrl: gone.url,
    apiKey: API_KEY,
    maxRetries: 1_000,
    fetch: (request) => {
      tries += 1
      // The pause after the second try is longer than this.
      if (tries === 2) setTimeout(() => stop.abort(new Error('enough')), 50)
      return fetch(request)
    },
  })
  expect(await errorOf(nobody.relayers.get('main', { signal: stop.signal }))).toBe(stop.signal.reason)
  expect(tries).toBe(2)
})

describe('a failure has the class of its reason', () => {
  test.each([
    ['UnauthorizedError', 401, 'unauthorized', () => stranger().relayers.get('main')],
    ['NotFoundError', 404, 'relayer_not_found', () => client.relayers.get('nobody')],
    [
      'InvalidRequestError',
      400,
      'invalid_request',
      () => client.transactions.send('main', { ...PAYMENT, value: -1n }),
    ],
    [
      'InsufficientBalanceError',
      400,
      'insufficient_balance',
      () => client.transactions.send('main', { ...PAYMENT, value: 2n ** 90n }),
    ],
    [
      'ConflictError',
      409,
      'already_exists',
      () =>
        client.apiKeys
          .create({ id: 'twice', name: 'Twice', scopes: ['rpc'] })
          .then(() => client.apiKeys.create({ id: 'twice', name: 'Twice', scopes: ['rpc'] })),
    ],
    [
      'IdempotencyKeyReusedError',
      409,
      'idempotency_key_reused',
      () =>
        Promise.all(
          [1n, 2n].map((value) =>
            client.transactions.send('other', { ...PAYMENT, value }, { idempotencyKey: 'one' }),
          ),
        ),
    ],
  ] as const)('%s', async (name, status, code, act) => {
    const error = await errorOf(act())
    expect(error).toMatchObject({ name, status, code, requestId: expect.any(String) })
  })

  const stranger = () => createRelayerClient({ baseUrl: story.service.url, apiKey: 'x'.repeat(32) })
})

test('lists come page by page, and as single pages', async () => {
  const whole = await client.networks.list({ per_page: 100 }).page()
  expect(whole.pagination?.total_items).toBeGreaterThan(20)
  const networks = await collect(client.networks.list({ per_page: 7 }))
  // The newest block of a network changes between two answers.
  const namesOf = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id)
  expect(namesOf(networks)).toEqual(namesOf(await collect(client.networks.list())))
  expect(networks).toHaveLength(whole.pagination?.total_items ?? 0)
  const entries = await collect(client.audit.list({ limit: 5 }))
  expect(entries).toEqual(await collect(client.audit.list()))
  expect(entries.length).toBeGreaterThan(10)
  expect((await client.audit.list({ limit: 2 }).page()).items).toEqual(entries.slice(0, 2))
  expect((await client.relayers.list({ page: 2, per_page: 1 }).page()).items.map(({ id }) => id)).toEqual([
    'other',
  ])
})

test('health, readiness and metrics are answers without an envelope', async () => {
  expect(await client.health.get()).toBe('OK')
  expect((await client.health.getReadiness()).ready).toBe(true)
})

test('webhooks of the service are verified, also while the signing key is rotated', async () => {
  const before = receiver.received.length
  await client.deliveries.sendTestEvent('ops')
  const found = () =>
    receiver.received.find(({ body }, at) => at >= before && body.event === 'notification_test')
  await expect.poll(found, { timeout: 10_000 }).toBeDefined()
  const { text: body = '', headers = {} } = found() ?? {}
  const keys = ['the-next-signing-key-of-32-characters', SIGNING_KEY]
  const event = await verifyWebhook({ body, headers, signingKey: keys })
  expect(event).toMatchObject({ event: 'notification_test', id: headers['webhook-id'] })
  expect(await verifyWebhook({ body, headers, signingKey: SIGNING_KEY, scheme: 'legacy' })).toEqual(event)
  await expect(verifyWebhook({ body: `${body} `, headers, signingKey: keys })).rejects.toMatchObject({
    reason: 'wrong_signature',
  })
})

test('the first program of the README sends one ether', async () => {
  await story.anvil.rpc('evm_setAutomine', [true])
  const said = await runReadmeProgram(story.service, 'Five minutes')
  expect(said).toMatch(/^one ether is included: 0x[0-9a-f]{64}\n$/)
})

test('a search goes through the transactions of all relayers, page by page', async () => {
  for (const relayer of ['main', 'other', 'main']) await client.transactions.send(relayer, PAYMENT)
  const all = await collect(client.transactions.search({ limit: 1 }))
  const ids = all.map(({ id }) => id)
  expect(ids).toEqual((await collect(client.transactions.search())).map(({ id }) => id))
  expect(all.slice(0, 3).map(({ relayer_id }) => relayer_id)).toEqual(['main', 'other', 'main'])
  const first = await client.transactions.search({ limit: 2 }).page()
  expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 2))
  expect(first.nextCursor).toBeTypeOf('string')
})
