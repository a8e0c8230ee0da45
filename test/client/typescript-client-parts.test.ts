import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { RelayerApiError } from '../../clients/typescript/src/errors/api-error.ts'
import { RelayerConnectionError } from '../../clients/typescript/src/errors/connection-error.ts'
import { toApiError } from '../../clients/typescript/src/errors/to-api-error.ts'
import { readBlocks } from '../../clients/typescript/src/events/server-sent-events.ts'
import { BoundedMap } from '../../clients/typescript/src/evm/bounded-map.ts'
import {
  parseAnswer,
  parseContractJson,
  requireRuntime,
  stringifyJson,
} from '../../clients/typescript/src/exact-json.ts'
import { OPERATIONS } from '../../clients/typescript/src/generated/operations.ts'
import { createRelayerClient, verifyWebhook } from '../../clients/typescript/src/index.ts'
import { retryDelay } from '../../clients/typescript/src/transport/retry.ts'
import { loadContract } from '../../src/contract/document.ts'
import { signatureHeaders } from '../../src/notifications/delivery/try-delivery.ts'

test('every operation has a method, but the stream, which one follows', async () => {
  const { operations } = await loadContract()
  const wanted = operations.map(({ method, path }) => `${method.toLowerCase()} ${path}`)
  const methods = Object.values(OPERATIONS).flatMap((resource) => Object.values(resource))
  const there = methods.map(({ method, path }) => `${method} ${path}`)
  expect([...there, 'get /api/v1/events/stream'].sort()).toEqual(wanted.sort())
})

test('a runtime that lacks what the client needs is told so in one sentence', () => {
  const json = JSON as { rawJSON?: unknown }
  const { rawJSON } = json
  expect(requireRuntime).not.toThrow()
  json.rawJSON = undefined
  try {
    expect(() => createRelayerClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k' })).toThrow(
      `multichain-relayer-client needs Node.js 22 or later, or a runtime with JSON.rawJSON and Promise.withResolvers; this is Node.js ${process.version}.`,
    )
  } finally {
    json.rawJSON = rawJSON
  }
})

describe('JSON', () => {
  test.each([
    ['{"nonce":7,"value":"7","weight":7}', { nonce: 7n, value: '7', weight: 7 }],
    ['{"nonce":-9007199254740993}', { nonce: -9007199254740993n }],
    ['{"anything":340282366920938463463374607431768211455}', { anything: 2n ** 128n - 1n }],
    ['{"missing":[1,2],"others":[1]}', { missing: [1n, 2n], others: [1] }],
    [
      '{"text":"12345678901234567890","share":0.1234567890123456}',
      { text: '12345678901234567890', share: 0.1234567890123456 },
    ],
  ])('%s', (text, value) => {
    expect(parseContractJson(text)).toEqual(value)
  })

  test('without the envelope has the fields of a third party', () => {
    expect(parseAnswer('{"result":{"nonce":7,"lamports":9007199254740993}}')).toEqual({
      result: { nonce: 7, lamports: 9007199254740993n },
    })
  })

  test('is written exactly', () => {
    expect(stringifyJson({ value: 2n ** 128n - 1n, list: [1n], text: '1' })).toBe(
      '{"value":340282366920938463463374607431768211455,"list":[1],"text":"1"}',
    )
  })
})

describe('a request is sent again', () => {
  const request = (method: string, headers = {}) => new Request('http://x/y', { method, headers })
  const read = request('GET')
  const keyed = request('POST', { 'idempotency-key': 'one' })
  const other = request('PUT')
  const failure = (status: number, code?: string, headers = {}) =>
    toApiError(new Response(null, { status, headers }), { code, error: 'No.' })
  const unanswered = (mayHaveArrived: boolean) =>
    new RelayerConnectionError({ request: read, cause: new Error('reset'), mayHaveArrived })

  test.each([
    ['a read without an answer', read, unanswered(true), true],
    ['a send without an answer', keyed, unanswered(true), true],
    ['a change without an answer', other, unanswered(true), false],
    ['a change that never left', other, unanswered(false), true],
    ['a change after 500', other, failure(500, 'internal_error'), false],
    ['a change after 500 that changed nothing', other, failure(500, 'network_unavailable'), true],
    ['a change after 429', other, failure(429, 'rate_limited'), true],
    ['a change after 429 of a proxy', other, failure(429), false],
    ['a send after 503 of a proxy', keyed, failure(503), true],
    ['a read after 400', read, failure(400, 'invalid_request'), false],
    [
      'a read that shall wait for an hour',
      read,
      failure(429, 'rate_limited', { 'retry-after': '3600' }),
      false,
    ],
  ])('%s', (_name, request, error, again) => {
    expect(retryDelay({ request, error, retry: 1 }) !== undefined).toBe(again)
  })

  test('after a longer time each, and not before Retry-After', () => {
    const delays = [1, 2, 3].map(
      (retry) => retryDelay({ request: read, error: unanswered(true), retry }) ?? 0,
    )
    for (const [at, limit] of [250, 500, 1_000].entries()) {
      expect(delays[at]).toBeGreaterThanOrEqual(limit / 2)
      expect(delays[at]).toBeLessThanOrEqual(limit)
    }
    const asked = failure(429, 'rate_limited', { 'retry-after': '7' })
    expect(retryDelay({ request: read, error: asked, retry: 1 })).toBe(7_000)
  })
})

test('a code of a newer service has the class of its HTTP status', () => {
  const made = (status: number) =>
    toApiError(new Response(null, { status }), { code: 'not_yet_known', error: 'No.' })
  expect([made(404).name, made(400).name]).toEqual(['NotFoundError', 'RelayerApiError'])
  expect(made(400)).toMatchObject({ code: 'not_yet_known', message: 'No.' })
  expect(made(400)).toBeInstanceOf(RelayerApiError)
})

test('an API key that no header can hold is refused without being shown', async () => {
  const client = createRelayerClient({ baseUrl: 'http://localhost', apiKey: 'secret\n' })
  await expect(client.relayers.get('main')).rejects.toThrow(/^apiKey: expected visible ASCII/)
})

test('server-sent events are read as the standard says, wherever the pieces are cut', async () => {
  const text =
    ': open\nid: 7\n\nid: 8\r\nevent: x\r\ndata: {"ü":\r\ndata:1}\r\n\r\n: still here\n\nid: 9\ndata: cut off'
  const bytes = new TextEncoder().encode(text)
  for (const size of [1, 2, 5, bytes.length]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size),
    )
    const blocks: object[] = []
    for await (const block of readBlocks(ReadableStream.from(pieces), new AbortController().signal))
      blocks.push(block)
    expect(blocks).toEqual([{ id: '7' }, { id: '8', data: '{"ü":\n1}' }, {}])
  }
})

test.each(['while it is silent', 'before it is read'])(
  'a stream is closed when its signal aborts %s',
  async (when) => {
    const closed = Promise.withResolvers<void>()
    const stream = new ReadableStream<Uint8Array>({ cancel: () => closed.resolve() })
    const stop = new AbortController()
    if (when === 'before it is read') stop.abort()
    const next = readBlocks(stream, stop.signal).next()
    stop.abort()
    expect(await next).toEqual({ value: undefined, done: true })
    await closed.promise
  },
)

describe('verifyWebhook', () => {
  const NOW = 1_795_255_200_000
  const OLD = 'the-old-signing-key-of-32-characters'
  const NEW = 'the-new-signing-key-of-32-characters'
  const body = '{"id":"7b6e","event":"transaction_update","payload":{"nonce":7}}'
  const signed = (keys: readonly string[], at = NOW) => signatureHeaders({ id: '7b6e', at, body, keys })
  const verify = (headers: Record<string, string>, options = {}) =>
    verifyWebhook({ body, headers, signingKey: NEW, now: NOW, ...options })
  const without = (name: string) => {
    const { [name]: _left, ...headers } = signed([NEW])
    return headers
  }

  test.each([
    ['text', body],
    ['bytes', new TextEncoder().encode(body)],
  ])('returns the body of a genuine webhook, as %s', async (_name, given) => {
    expect(await verify(signed([NEW]), { body: given })).toMatchObject({ payload: { nonce: 7n } })
    const headers = new Headers(signed([NEW]))
    expect((await verifyWebhook({ body: given, headers, signingKey: NEW, now: NOW })).id).toBe('7b6e')
  })

  test.each([
    ['the service has rotated, the receiver not yet', [NEW, OLD], [OLD]],
    ['the receiver has both, the service the old one', [OLD], [NEW, OLD]],
    ['the service has rotated, the receiver has both', [NEW, OLD], [NEW, OLD]],
  ])('accepts it while %s', async (_name, keys, signingKey) => {
    for (const scheme of ['standard', 'legacy'])
      expect((await verify(signed(keys), { signingKey, scheme })).id).toBe('7b6e')
  })

  test.each([
    ['another body', 'wrong_signature', signed([NEW]), { body: body.replace('7}', '8}') }],
    ['another key', 'wrong_signature', signed([OLD]), {}],
    ['another id', 'wrong_signature', { ...signed([NEW]), 'webhook-id': 'other' }, {}],
    [
      'a newer time than was signed',
      'wrong_signature',
      { ...signed([NEW], NOW - 3_600_000), 'webhook-timestamp': String(NOW / 1000) },
      {},
    ],
    ['no base64', 'wrong_signature', { ...signed([NEW]), 'webhook-signature': 'v1,ä v1, x' }, {}],
    [
      'another version',
      'wrong_signature',
      {
        ...signed([NEW]),
        'webhook-signature': `v2,${createHmac('sha256', NEW).update(body).digest('base64')}`,
      },
      {},
    ],
    ['an old time', 'timestamp_out_of_tolerance', signed([NEW], NOW - 301_000), {}],
    ['a time in the future', 'timestamp_out_of_tolerance', signed([NEW], NOW + 301_000), {}],
    ['no time', 'timestamp_out_of_tolerance', { ...signed([NEW]), 'webhook-timestamp': 'now' }, {}],
    ['X-Signature alone', 'missing_header', without('webhook-signature'), {}],
    ['no X-Signature, where it is asked for', 'missing_header', without('X-Signature'), { scheme: 'legacy' }],
  ])('refuses %s', async (_name, reason, headers, options) => {
    await expect(verify(headers, options)).rejects.toMatchObject({ name: 'WebhookVerificationError', reason })
  })

  test('needs a signing key', async () => {
    for (const signingKey of ['', []])
      await expect(verify(signed([NEW]), { signingKey })).rejects.toThrow('signingKey: expected at least one')
  })
})

test('a bounded map forgets what was set first', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  expect([...map]).toEqual([
    ['b', 2],
    ['c', 4],
  ])
})

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
const manifest = read('clients/typescript/package.json')

/** The packages that a file loads, itself or through another file. */
function packagesOf(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return new Set()
  seen.add(file)
  const source = readFileSync(file, 'utf8')
  const imported = [...source.matchAll(/^(?:import|export)\b(?! type)[^;]*? from '([^']+)'/gm)].map(
    ([, path = '']) => path,
  )
  const own = imported.filter((path) => !path.startsWith('.'))
  const others = imported.filter((path) => path.startsWith('.'))
  return new Set([...own, ...others.flatMap((path) => [...packagesOf(join(dirname(file), path), seen)])])
}

test.each([
  ['index', ['openapi-fetch']],
  ['eip1193', []],
  ['viem', ['viem', 'viem/actions']],
  ['ethers', ['ethers']],
  ['solana-kit', ['@solana/kit']],
  ['stellar', ['@stellar/stellar-sdk']],
])('the entry %s loads no library but %j', (entry, packages) => {
  expect([...packagesOf(join(ROOT, `clients/typescript/src/${entry}.ts`))].sort()).toEqual(packages)
})

test('each entry is exported, and its library is a peer of the version with which it is tested', () => {
  const { dependencies, devDependencies } = read('package.json')
  const tested = { ...dependencies, ...devDependencies }
  const names = ['@solana/kit', '@stellar/stellar-sdk', 'ethers', 'viem']
  expect(manifest.peerDependencies).toEqual(
    Object.fromEntries(names.map((name) => [name, `^${tested[name]}`])),
  )
  expect(manifest.peerDependenciesMeta).toEqual(
    Object.fromEntries(names.map((name) => [name, { optional: true }])),
  )
  const entries = [
    '.',
    './eip1193',
    './viem',
    './ethers',
    './solana-kit',
    './stellar',
    './plugin',
    './package.json',
  ]
  expect(Object.keys(manifest.exports)).toEqual(entries)
})
