import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { answerWith, startRpcServer } from '../../support/rpc-server.ts'
import { RECEIVER, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

type Network = Schemas['Network']

const NOBODY = 'http://127.0.0.1:9/v2/key'
const ALLOWED = { RELAYER_ALLOW_PRIVATE_URLS: 'true' }

let anvil: Anvil
let service: Service

beforeAll(async () => {
  anvil = await startAnvil()
  service = await startService({
    rpcUrls: [NOBODY],
    network: { explorer_urls: ['https://explorer.example'], tags: ['rollup'] },
    env: ALLOWED,
  })
}, 60_000)
afterAll(async () => {
  await service.stop()
  await anvil.stop()
})

const get = async (id: string) => (await service.api<Network>('GET', `/networks/${id}`)).body.data
const patch = (body: object, id = 'evm:anvil') => service.api<Network>('PATCH', `/networks/${id}`, body)

describe('networks', () => {
  test('are listed, those of the file first, with masked urls', async () => {
    const { body } = await service.api<Network[]>('GET', '/networks?per_page=100')
    expect(body.data[0]).toEqual({
      id: 'evm:anvil',
      name: 'anvil',
      network_type: 'evm',
      rpc_urls: [{ url: 'http://127.0.0.1:9/***', weight: 100 }],
      explorer_urls: ['https://explorer.example'],
      average_blocktime_ms: 200,
      is_testnet: true,
      tags: ['rollup'],
      chain_id: 31337,
      required_confirmations: 1,
      finality: 'depth',
      features: ['eip1559'],
      symbol: 'ETH',
      tx_fee_cap: '1000000000000000000',
    })
    expect(body.data).toHaveLength(body.pagination?.total_items ?? 0)
    const ids = body.data.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(expect.arrayContaining(['evm:mainnet', 'stellar:pubnet', 'solana:devnet']))
  })

  test('are found by type and name, in any case of letters; nothing else is', async () => {
    expect(await get('EVM:Sepolia')).toMatchObject({ id: 'evm:sepolia', chain_id: 11155111 })
    expect(await get('stellar%3Atestnet')).toMatchObject({
      passphrase: 'Test SDF Network ; September 2015',
    })
    expect(await get('solana:devnet')).toMatchObject({ genesis_hash: expect.any(String) })
    expect(await get('stellar:pubnet')).toMatchObject({ rpc_urls: [] })
    for (const id of ['sepolia', 'evm:', 'evm:nothing', 'stellar:sepolia', '%00', 'evm:anvil%2F..']) {
      const { status, body } = await service.api('GET', `/networks/${id}`)
      expect([id, status, body.code]).toEqual([id, 404, 'network_not_found'])
    }
  })
})

describe('the urls of a network', () => {
  test.each<[string, unknown, RegExp]>([
    ['nothing', {}, /^body: expected at least 1/],
    ['null', { rpc_urls: null }, /^body\.rpc_urls: expected an array/],
    ['no url', { rpc_urls: [] }, /^body\.rpc_urls: expected at least 1 items/],
    ['another field', { rpc_urls: [NOBODY], chain_id: 1 }, /^body\.chain_id: there is no such field/],
    ['a WebSocket url', { rpc_urls: ['ws://127.0.0.1:9'] }, /^body\.rpc_urls\[0\]: expected an http/],
    ['no url at all', { rpc_urls: [NOBODY, { url: 'x' }] }, /^body\.rpc_urls\[1\]\.url: expected an http/],
    ['a masked url', { rpc_urls: ['http://127.0.0.1:9/***'] }, /^body\.rpc_urls\[0\]: expected the full URL/],
    ['weight 0 alone', { rpc_urls: [{ url: NOBODY, weight: 0 }] }, /weight above 0\.$/],
    [
      'weight 101',
      { rpc_urls: [{ url: NOBODY, weight: 101 }] },
      /^body\.rpc_urls\[0\]\.weight: expected an integer from 0 to 100/,
    ],
    [
      'a metadata service',
      { rpc_urls: ['http://169.254.169.254/latest'] },
      /^body\.rpc_urls\[0\]: .* never allowed\.$/,
    ],
    [
      'a private endpoint with another method',
      { private_rpc_urls: [{ url: NOBODY, method: 'eth_call' }] },
      /^body\.private_rpc_urls\[0\]\.method: expected/,
    ],
    [
      'a private endpoint at a metadata service',
      { private_rpc_urls: [{ url: 'http://169.254.169.254/latest' }] },
      /^body\.private_rpc_urls\[0\]\.url: .* never allowed\.$/,
    ],
    [
      'a masked private endpoint',
      { private_rpc_urls: ['http://127.0.0.1:9/***'] },
      /^body\.private_rpc_urls\[0\]: expected the full URL/,
    ],
  ])('are not changed by %s: 400 says why', async (_name, body, expected) => {
    const answer = await patch(body as object)
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
    expect(answer.body.error).toMatch(expected)
    expect((await get('evm:anvil')).rpc_urls).toEqual([{ url: 'http://127.0.0.1:9/***', weight: 100 }])
  })

  test('are private for some networks only, are masked, and are asked nothing', async () => {
    const server = await startRpcServer(answerWith({}))
    onTestFinished(server.stop)
    const { origin, host } = new URL(server.url)
    const private_rpc_urls = [
      `${origin}/secret-key`,
      { url: 'https://builder.example/k', method: 'eth_sendPrivateTransaction' },
    ]
    const changed = await patch({ private_rpc_urls })
    expect(changed.status).toBe(200)
    const shown = [
      { url: `http://${host}/***`, method: 'eth_sendRawTransaction' },
      { url: 'https://builder.example/***', method: 'eth_sendPrivateTransaction' },
    ]
    expect(changed.body.data).toMatchObject({
      private_rpc_urls: shown,
      rpc_urls: [{ url: 'http://127.0.0.1:9/***', weight: 100 }],
    })
    const { body } = await service.api<{ action: string; after: object }[]>('GET', '/audit?limit=1')
    expect(body.data[0]).toMatchObject({ action: 'updateNetwork', after: { private_rpc_urls: shown } })
    expect(server.requests).toEqual([])
    expect((await patch({ private_rpc_urls: [] })).body.data.private_rpc_urls).toEqual([])
    const solana = await patch({ private_rpc_urls }, 'solana:devnet')
    expect([solana.status, solana.body.error]).toEqual([
      400,
      expect.stringMatching(/^body.private_rpc_urls: only EVM/),
    ])
  })

  test('are not changed to those of another chain', async () => {
    const other = await startRpcServer(answerWith({ eth_chainId: '0x5', net_version: '5' }))
    onTestFinished(other.stop)
    const { status, body } = await patch({ rpc_urls: [other.url] })
    expect([status, body.code]).toEqual([400, 'wrong_chain'])
    expect(body.error).toMatch(/^body\.rpc_urls: .*31337/)
    expect((await get('evm:anvil')).rpc_urls).toEqual([{ url: 'http://127.0.0.1:9/***', weight: 100 }])
  })

  test('count immediately, for relayers that waited, too', async () => {
    const { body } = await service.api('POST', '/relayers/main/transactions', { to: RECEIVER, value: 1 })
    expect(body.data.status).toBe('pending')
    const changed = await service.api<Network>(
      'PATCH',
      '/networks/evm:ANVIL',
      { rpc_urls: [{ url: anvil.url, weight: 7 }] },
      { 'content-type': 'application/merge-patch+json' },
    )
    expect([changed.status, changed.body.data.rpc_urls]).toEqual([200, [{ url: anvil.url, weight: 7 }]])
    expect(changed.body.metadata).toBeUndefined()
    expect(await get('evm:anvil')).toEqual(changed.body.data)
    await until(
      async () => {
        await anvil.rpc('evm_mine')
        return (await service.api('GET', `/relayers/main/transactions/${body.data.id}`)).body.data
      },
      ({ status }) => status === 'confirmed',
    )
  })

  test('are accepted when no endpoint answers, and the answer names those that were asked', async () => {
    const silent = ['http://127.0.0.1:9/silent', 'https://silent.invalid/key', { url: NOBODY, weight: 0 }]
    const { status, body } = await patch({ rpc_urls: silent }, 'stellar:pubnet')
    expect([status, body.data.rpc_urls]).toEqual([
      200,
      [
        { url: 'http://127.0.0.1:9/***', weight: 100 },
        { url: 'https://silent.invalid/***', weight: 100 },
        { url: 'http://127.0.0.1:9/***', weight: 0 },
      ],
    ])
    expect(body.metadata?.logs).toEqual([
      {
        level: 'log',
        message:
          'rpc_urls: none of 127.0.0.1:9, silent.invalid answered in time, so their chain is not known yet; the service uses the URLs and keeps checking.',
      },
    ])
  })
})

test('urls of callers outlive a restart, until those of the file change', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'relayer-networks-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const start = (rpcUrl: string) => startService({ rpcUrls: [rpcUrl], dataDir, env: ALLOWED })
  const urls = async ({ api }: Service) =>
    (await api<Network>('GET', '/networks/evm:anvil')).body.data.rpc_urls

  const first = await start(NOBODY)
  expect((await first.api('PATCH', '/networks/evm:anvil', { rpc_urls: [anvil.url] })).status).toBe(200)
  await first.stop()
  const second = await start(NOBODY)
  expect(await urls(second)).toEqual([{ url: anvil.url, weight: 100 }])
  await second.stop()
  const third = await start('http://127.0.0.1:19/changed')
  expect(await urls(third)).toEqual([{ url: 'http://127.0.0.1:19/***', weight: 100 }])
  await third.stop()
}, 60_000)
