import { expect, onTestFinished, test } from 'vitest'
import { NODE_DIALECT } from '../../../src/chains/evm/read/node-dialect.ts'
import { createRpcClient } from '../../../src/chains/rpc/client.ts'
import { httpTransport } from '../../../src/chains/rpc/transport.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { createLogger } from '../../../src/log.ts'
import { createGuardedHttpClient } from '../../../src/security/guarded-http-client.ts'
import { answerWith, startRpcServer, type WireAnswer, type WireCall } from '../../support/rpc-server.ts'

const log = createLogger({ level: 'silent' })
const height = { call: { method: 'height', params: [] }, read: () => 0n }

async function start(answer: (calls: readonly WireCall[]) => WireAnswer) {
  const server = await startRpcServer(answer)
  onTestFinished(server.stop)
  return server
}

interface How {
  readonly allowPrivate?: boolean
  readonly wholeBodyBytes?: number
  readonly timeoutMs?: number
}

/** A client whose urls a caller chose. */
function clientOf(url: string, { allowPrivate = true, wholeBodyBytes = 1_000, timeoutMs = 2_000 }: How = {}) {
  const httpClient = createGuardedHttpClient({ allowPrivate }, { wholeBodyBytes })
  onTestFinished(() => httpClient.close())
  return createRpcClient({
    errors: NODE_DIALECT.errors,
    maxRequestBytes: NODE_DIALECT.maxRequestBytes,
    urls: [{ url, weight: 100, untrusted: true }],
    guarded: httpTransport(httpClient),
    timeoutMs,
    clock: systemClock,
    log,
    height,
  })
}

test('is asked like any other, over one connection that is kept', async () => {
  const server = await start(answerWith({ one: '0x1', two: '0x2' }))
  const client = clientOf(server.url)
  expect(await client.call('one', [])).toEqual({ kind: 'result', result: '0x1' })
  expect(
    await client.send([
      { method: 'two', params: [] },
      { method: 'three', params: [] },
    ]),
  ).toEqual([{ kind: 'result', result: '0x2' }, expect.objectContaining({ kind: 'error', code: -32601 })])
  expect([server.requests.length, server.connections]).toEqual([2, 1])
})

test.each(['127.0.0.1', 'localhost'])('on this machine as %s is not asked', async (host) => {
  const server = await start(answerWith({ one: '0x1' }))
  const client = clientOf(server.url.replace('127.0.0.1', host), { allowPrivate: false })
  expect(await client.call('one', [])).toEqual({
    kind: 'unknown',
    detail: `${host} is in a private network`,
  })
  expect(server.connections).toBe(0)
})

test('that redirects is not followed', async () => {
  const target = await start(answerWith({ one: '0x1' }))
  const server = await start(() => ({ status: 307, headers: { location: target.url }, text: '' }))
  expect(await clientOf(server.url).call('one', [])).toMatchObject({ kind: 'unknown' })
  expect(server.requests.length).toBeGreaterThan(0)
  expect(target.connections).toBe(0)
})

test('may answer as much as is read and not a byte more', async () => {
  const reply = (length: number) => ({ jsonrpc: '2.0', id: 1, result: 'x'.repeat(length) })
  const frame = JSON.stringify(reply(0)).length
  const limit = 500
  for (const [length, kind] of [
    [limit - frame, 'result'],
    [limit - frame + 1, 'unknown'],
  ] as const) {
    const server = await start(([call]) => ({ body: { ...reply(length), id: call?.id } }))
    const answer = await clientOf(server.url, { wholeBodyBytes: limit }).call('one', [])
    expect([length, answer.kind]).toEqual([length, kind])
  }
})

test('that never ends its answer times out, and the detail tells it', async () => {
  const server = await start(() => 'silent')
  expect(await clientOf(server.url, { timeoutMs: 200 }).call('one', [])).toEqual({
    kind: 'unknown',
    detail: 'the endpoint did not answer in time',
  })
})

test('is not asked at all where nobody guards the way', async () => {
  const server = await start(answerWith({ one: '0x1' }))
  const urls = [{ url: server.url, weight: 100, untrusted: true as const }]
  const client = createRpcClient({
    errors: NODE_DIALECT.errors,
    maxRequestBytes: NODE_DIALECT.maxRequestBytes,
    urls,
    timeoutMs: 1_000,
    clock: systemClock,
    log,
    height,
  })
  expect(await client.call('one', [])).toMatchObject({ kind: 'unknown' })
  expect(server.connections).toBe(0)
})
