import { expect, onTestFinished, test } from 'vitest'
import { createDataDir } from '../../support/data-dir.ts'
import { startEndlessServer } from '../../support/endless-server.ts'
import { answerWith, startRpcServer } from '../../support/rpc-server.ts'
import { API_KEY, type Service, startService } from '../../support/service.ts'

const MIB = 1024 * 1024

/** Buffers of the sockets and streams on both sides hold what was written and not read. */
const BUFFERED = 8 * MIB

function start(dataDir: string): Promise<Service> {
  return startService({
    rpcUrls: ['http://127.0.0.1:9'],
    dataDir,
    env: { RELAYER_ALLOW_PRIVATE_URLS: 'true' },
  })
}

async function ask({ url }: Service, id: string): Promise<unknown> {
  const response = await fetch(`${url}/api/v1/relayers/${id}/rpc`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 1, method: 'eth_getLogs', params: [{}] }),
  })
  return response.json()
}

test('urls of callers that answer without end delay no start', async () => {
  const endpoints = [await startEndlessServer('[{}', ',{}'), await startEndlessServer('[', '[')]
  const dataDir = await createDataDir()
  const first = await start(dataDir)
  const custom_rpc_urls = endpoints.map(({ url }) => ({ url }))
  onTestFinished(async () => {
    for (const endpoint of endpoints) await endpoint.stop()
  })
  for (const id of ['main', 'other'])
    expect((await first.api('PATCH', `/relayers/${id}`, { custom_rpc_urls })).status).toBe(200)
  expect((await first.api('PATCH', '/networks/evm:anvil', { rpc_urls: custom_rpc_urls })).status).toBe(200)
  await first.stop()
  const before = endpoints.map(({ written }) => written.length)

  const second = await start(dataDir)
  onTestFinished(() => second.stop())
  const started = performance.now()
  expect((await second.api('GET', '/relayers')).status).toBe(200)
  expect(performance.now() - started).toBeLessThan(2_000)
  expect(endpoints.every(({ written }, index) => written.length > (before[index] ?? 0))).toBe(true)

  for (const { written } of endpoints) expect(Math.max(...written)).toBeLessThan(MIB + BUFFERED)
}, 60_000)

test('a call whose answer is too large is told the limit, and the relayer stays as it is', async () => {
  const results = { eth_chainId: '0x7a69', eth_blockNumber: '0x1', eth_getBalance: '0x1' }
  const endpoint = await startRpcServer(answerWith({ ...results, eth_getLogs: 'x'.repeat(8 * MIB) }))
  const service = await startService({ rpcUrls: [endpoint.url] })
  onTestFinished(async () => {
    await service.stop()
    await endpoint.stop()
  })
  const description = 'An endpoint answered, and the answer has more than 8388608 bytes. Request less.'
  const error = { code: -32005, message: 'Answer too large', description }
  expect(await ask(service, 'main')).toEqual({ jsonrpc: '2.0', id: 1, error })
  const { body } = await service.api<{ system_disabled: boolean }>('GET', '/relayers/main')
  expect(body.data.system_disabled).toBe(false)
})

test.each([
  ['1e99', '"m"', { code: -32603, message: 'm' }],
  ['1.0', '"m"', { code: 1, message: 'm' }],
  ['-32000.5', '"m"', { code: -32603, message: 'm' }],
  ['"7"', '"m"', { code: 7, message: 'm' }],
  ['{}', '"m"', { code: -32603, message: 'm' }],
  ['9007199254740993', '"m"', { code: -32603, message: 'm' }],
  ['null', '1.0', { code: 0, message: '1.0' }],
  ['-1', '{"a":1}', { code: -1, message: '{"a":1}' }],
])(
  'an error with the code %s and the message %s is passed on as the contract says',
  async (code, message, error) => {
    const endpoint = await startRpcServer((calls) => {
      const entries = calls.map(({ id, method }) =>
        method === 'eth_getLogs'
          ? `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":${message}}}`
          : `{"jsonrpc":"2.0","id":${id},"result":"${method === 'eth_chainId' ? '0x7a69' : '0x1'}"}`,
      )
      return { text: entries.length === 1 ? entries.join() : `[${entries.join()}]` }
    })
    const service = await startService({ rpcUrls: [endpoint.url] })
    onTestFinished(async () => {
      await service.stop()
      await endpoint.stop()
    })
    expect(await ask(service, 'main')).toEqual({ jsonrpc: '2.0', id: 1, error })
  },
)
