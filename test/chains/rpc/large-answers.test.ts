import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { NODE_DIALECT } from '../../../src/chains/evm/read/node-dialect.ts'
import { createRpcClient } from '../../../src/chains/rpc/client.ts'
import { FREE_ANSWER_BYTES, httpTransport, MAX_ANSWER_BYTES } from '../../../src/chains/rpc/transport.ts'
import { createByteBudget } from '../../../src/lib/http/byte-budget.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { createLogger } from '../../../src/log.ts'
import { createGuardedHttpClient } from '../../../src/security/guarded-http-client.ts'
import { startEndlessServer } from '../../support/endless-server.ts'
import { answerWith, startRpcServer } from '../../support/rpc-server.ts'

const MIB = 1024 * 1024

/** An endpoint that writes its answer for as long as someone reads it. */
async function startEndless(begin: string, part: string) {
  const server = await startEndlessServer(begin, part)
  onTestFinished(server.stop)
  return { url: server.url, written: () => Math.max(...server.written) }
}

function clientOf(
  urls: readonly string[],
  { trusted = false, budget = createByteBudget({ bytes: 64 * MIB, freeBytes: FREE_ANSWER_BYTES }) } = {},
) {
  const httpClient = createGuardedHttpClient(
    { allowPrivate: true },
    { wholeBodyBytes: MAX_ANSWER_BYTES, budget },
  )
  onTestFinished(() => httpClient.close())
  return createRpcClient({
    ...NODE_DIALECT,
    urls: urls.map((url) => ({ url, weight: 100, ...(!trusted && { untrusted: true as const }) })),
    guarded: httpTransport(httpClient),
    timeoutMs: 5_000,
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
    random: () => 0,
  })
}

/** Buffers of the sockets and streams on both sides hold what was written and not read. */
const BUFFERED = 8 * MIB

describe.each([
  ['an untrusted', false],
  ['a trusted', true],
])('the answer of %s endpoint', (_kind, trusted) => {
  test.each([
    ['[', '[', 'the answer nests deeper than 512 levels'],
    ['[', '{},', 'the answer has more than 100000 values'],
    ['{', '"a":1,', 'the answer has more than 100000 values'],
    ['["', 'x', 'the answer has more than 1048576 bytes'],
  ])('%s%s… to a question of the service is read in part', async (begin, part, detail) => {
    const endpoint = await startEndless(begin, part)
    const reply = await clientOf([endpoint.url], { trusted }).call('eth_chainId', [])
    expect(reply).toEqual({ kind: 'unknown', detail, tooLarge: true })
    expect(endpoint.written()).toBeLessThan(MIB + BUFFERED)
  })

  test('to a call of an API caller has 8 MiB at most', async () => {
    const endpoint = await startEndless('["', 'x')
    const [reply] = await clientOf([endpoint.url], { trusted }).forward([{ method: 'eth_getLogs' }])
    expect(reply).toMatchObject({ tooLarge: true, detail: 'the answer has more than 8388608 bytes' })
    expect(endpoint.written()).toBeLessThan(8 * MIB + BUFFERED)
  })
})

test('an endpoint that answers too much is asked once, and another one answers', async () => {
  const endless = await startEndless('[', '[')
  const well = await startRpcServer(answerWith({ eth_chainId: '0x1' }))
  onTestFinished(well.stop)
  const client = clientOf([endless.url, well.url])
  expect(await client.call('eth_chainId', [])).toEqual({ kind: 'result', result: '0x1' })
  expect(well.requests).toHaveLength(1)
})

test('a batch whose answer is too large is asked again in parts', async () => {
  const part = 'x'.repeat(30_000)
  const server = await startRpcServer((calls) => ({
    body: calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: part })),
  }))
  onTestFinished(server.stop)
  const calls = Array.from({ length: 60 }, () => ({ method: 'eth_getBalance', params: [] }))
  const replies = await clientOf([server.url]).send(calls)
  expect(replies.every((reply) => reply.kind === 'result')).toBe(true)
  expect(server.requests.map((request) => request.length)).toEqual([60, 10, 10, 10, 10, 10, 10])
})

test('the answers to a batch of an API caller share their limit, in however many requests it goes out', async () => {
  const part = 'x'.repeat(3 * MIB)
  const server = await startRpcServer((calls) =>
    calls.length > 1
      ? { status: 400, text: 'no batches' }
      : { body: { jsonrpc: '2.0', id: calls[0]?.id, result: part } },
  )
  onTestFinished(server.stop)
  const replies = await clientOf([server.url]).forward(
    Array.from({ length: 4 }, () => ({ method: 'eth_getLogs' })),
  )
  expect(replies.map((reply) => reply.kind)).toEqual(['result', 'result', 'unknown', 'unknown'])
})

test('the answers to a batch of an API caller share the limit of values, too', async () => {
  const many = Array.from({ length: 100_000 }, () => 0)
  const server = await startRpcServer((calls) =>
    calls.length > 1
      ? { status: 400, text: 'no batches' }
      : { body: { jsonrpc: '2.0', id: calls[0]?.id, result: many } },
  )
  onTestFinished(server.stop)
  const replies = await clientOf([server.url]).forward(
    Array.from({ length: 3 }, () => ({ method: 'eth_getLogs' })),
  )
  expect(replies.map((reply) => reply.kind)).toEqual(['result', 'result', 'unknown'])
})

test('a receipt may be as large as one transaction can make it', async () => {
  const log = { address: `0x${'a'.repeat(40)}`, topics: [], data: '0x', logIndex: '0x1', removed: false }
  const receipt = { logs: Array.from({ length: 35_000 }, () => log) }
  const server = await startRpcServer(answerWith({ eth_getTransactionReceipt: receipt }))
  onTestFinished(server.stop)
  expect(await clientOf([server.url]).call('eth_getTransactionReceipt', [])).toMatchObject({ kind: 'result' })
})

test('answers under way share a budget: large ones fail when it is used up, small ones do not', async () => {
  const budget = createByteBudget({ bytes: 2 * MIB, freeBytes: FREE_ANSWER_BYTES })
  let release = () => {}
  const opened = new Promise<void>((resolve) => {
    release = resolve
  })
  const slow = createServer((request, response) => {
    request.resume().on('end', () => {
      response.write(`{"jsonrpc":"2.0","id":0,"result":"${'x'.repeat(MIB)}`)
      void opened.then(() => response.end('"}'))
    })
  })
  slow.listen(0, '127.0.0.1')
  await once(slow, 'listening')
  onTestFinished(() => {
    slow.closeAllConnections()
    slow.close()
  })
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`
  const small = await startRpcServer(answerWith({ eth_chainId: '0x1' }))
  onTestFinished(small.stop)
  const waiting = Array.from({ length: 3 }, () =>
    clientOf([url], { budget }).call('eth_getTransactionReceipt', []),
  )
  const refused = await Promise.race(waiting)
  expect(refused).toMatchObject({
    tooLarge: true,
    detail: 'the responses being received have more than 2097152 bytes together',
  })
  expect(budget.used).toBeGreaterThan(MIB)
  expect(await clientOf([small.url], { budget }).call('eth_chainId', [])).toMatchObject({ result: '0x1' })
  release()
  const kinds = (await Promise.all(waiting)).map(({ kind }) => kind)
  expect(kinds.sort()).toEqual(['result', 'result', 'unknown'])
  expect(budget.used).toBe(0)
})
