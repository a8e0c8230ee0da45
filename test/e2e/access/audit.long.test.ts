import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type ChainReport, verifyLog } from '../../../src/audit/verify.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { fingerprintOf } from '../../../src/lib/hash.ts'
import { createLogger } from '../../../src/log.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { createDataDir } from '../../support/data-dir.ts'
import { DEV_KEYS, RECEIVER, type Service, SIGNING_KEY, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

type Entry = Schemas['AuditEntry']

const SEALING_KEY = Buffer.alloc(32, 'sealing').toString('base64')
const KEY = '7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6'
const HOOK_KEY = 'the-signing-key-of-a-caller-has-43-characters'
const SECRETS = ['PATHSECRET', 'QUERYSECRET', 'USERSECRET', HOOK_KEY, KEY, SIGNING_KEY, ...DEV_KEYS]
const rpcUrl = (host: string) => `https://USERSECRET@${host}/PATHSECRET?key=QUERYSECRET`

let anvil: Anvil
let dataDir: string
let service: Service

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  dataDir = await createDataDir()
  service = await startService({
    rpcUrls: [anvil.url],
    dataDir,
    env: { STORAGE_ENCRYPTION_KEY: SEALING_KEY, RELAYER_ALLOW_PRIVATE_URLS: 'true' },
  })
}, 60_000)
afterAll(async () => {
  await service.stop()
  await anvil.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const list = async (query = ''): Promise<Entry[]> =>
  (await service.api<Entry[]>('GET', `/audit?limit=100${query}`)).body.data

let requests = 0

/** Calls an operation under a request id of its own, and returns the entries of this request without what differs at each run. */
async function audited(method: string, path: string, body?: object) {
  requests += 1
  const id = `audit-test-${requests}`
  const answer = await service.api<{ id: string }>(method, path, body, { 'X-Request-Id': id })
  expect(answer.status, answer.body.error).toBeLessThan(300)
  const entries = await list(`&request_id=${id}`)
  for (const entry of entries) {
    expect(entry).toMatchObject({ actor: 'root', address: '127.0.0.1', request_id: id })
    expect(Math.abs(Date.now() - Date.parse(entry.at))).toBeLessThan(60_000)
  }
  const shown = entries.map(({ action, target_type, target_id, before, after }) => ({
    action,
    target: `${target_type} ${target_id}`,
    ...(before && { before }),
    ...(after && { after }),
  }))
  return { data: answer.body.data, entries: shown }
}

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')

describe('the audit log has an entry of', () => {
  test('a signer that is created and deleted', async () => {
    const body = { id: 'hot', type: 'plain', config: { key: KEY } }
    const signer = { id: 'hot', type: 'local', config: {} }
    const target = 'signer hot'
    expect((await audited('POST', '/signers', body)).entries).toEqual([
      { action: 'createSigner', target, after: signer },
    ])
    expect((await audited('DELETE', '/signers/hot')).entries).toEqual([
      { action: 'deleteSigner', target, before: signer },
    ])
  })

  test('a relayer that is created, changed and deleted', async () => {
    await audited('POST', '/signers', { id: 'own', type: 'plain', config: { key: KEY } })
    const target = 'relayer made'
    const created = await audited('POST', '/relayers', {
      id: 'made',
      name: 'Made',
      network: 'anvil',
      network_type: 'evm',
      signer_id: 'own',
      custom_rpc_urls: [{ url: `${anvil.url}/PATHSECRET`, weight: 100 }],
    })
    const relayer = {
      id: 'made',
      name: 'Made',
      paused: false,
      signer_id: 'own',
      custom_rpc_urls: [{ url: `${anvil.url}/***`, weight: 100 }],
    }
    expect(created.entries).toMatchObject([{ action: 'createRelayer', target, after: relayer }])
    const cap = 2n ** 100n
    const changes = { name: 'Changed', policies: { gas_price_cap: cap.toString() } }
    expect((await audited('PATCH', '/relayers/made', changes)).entries).toMatchObject([
      {
        action: 'updateRelayer',
        target,
        before: { name: 'Made' },
        after: { name: 'Changed', policies: { gas_price_cap: cap.toString() } },
      },
    ])
    const masked = { custom_rpc_urls: [{ url: `${anvil.url}/***`, weight: 100 }] }
    const urls = { custom_rpc_urls: [{ url: `${anvil.url}/ANOTHERPATH`, weight: 100 }] }
    expect((await audited('PATCH', '/relayers/made', urls)).entries).toEqual([
      { action: 'updateRelayer', target, before: masked, after: masked },
    ])
    expect((await audited('DELETE', '/relayers/made')).entries).toMatchObject([
      { action: 'deleteRelayer', target, before: { ...relayer, name: 'Changed' } },
    ])
  })

  test('the urls of a network', async () => {
    const rpc_urls = (host: string, weight: number) => [{ url: `https://${host}/***`, weight }]
    const change = (host: string, weight: number) =>
      audited('PATCH', '/networks/stellar:futurenet', { rpc_urls: [{ url: rpcUrl(host), weight }] })
    const [first] = (await change('one.example', 7)).entries
    expect(first).toMatchObject({ action: 'updateNetwork', target: 'network stellar:futurenet' })
    expect(first?.after).toEqual({ rpc_urls: rpc_urls('one.example', 7) })
    expect((await change('two.example', 8)).entries).toMatchObject([
      { before: { rpc_urls: rpc_urls('one.example', 7) }, after: { rpc_urls: rpc_urls('two.example', 8) } },
    ])
  })

  test('a notification and everything that is done with it', async () => {
    const target = 'notification hook'
    const url = 'https://hooks.example/***'
    const body = { id: 'hook', url: 'https://hooks.example/PATHSECRET?token=QUERYSECRET' }
    const notification = { id: 'hook', type: 'webhook', url, has_signing_key: false }
    expect((await audited('POST', '/notifications', { ...body, type: 'webhook' })).entries).toEqual([
      { action: 'createNotification', target, after: notification },
    ])
    const patch = { signing_key: HOOK_KEY, url: 'https://hooks.example/PATHSECRET/2' }
    expect((await audited('PATCH', '/notifications/hook', patch)).entries).toEqual([
      {
        action: 'updateNotification',
        target,
        before: { url, has_signing_key: false },
        after: { url, has_signing_key: true },
      },
    ])
    const operator = { paused: true, paused_reason: 'operator' }
    expect((await audited('POST', '/notifications/hook/pause')).entries).toEqual([
      { action: 'pauseNotification', target, before: { paused: false }, after: operator },
    ])
    expect((await audited('POST', '/notifications/hook/resume')).entries).toEqual([
      { action: 'resumeNotification', target, before: operator, after: { paused: false } },
    ])
    const rotation = { signing_key: `${HOOK_KEY}-2`, overlap_seconds: 60 }
    expect((await audited('POST', '/notifications/hook/signing-key', rotation)).entries).toMatchObject([
      { action: 'rotateSigningKey', target, after: { previous_key_expires_at: expect.any(String) } },
    ])
    const sent = await audited('POST', '/notifications/hook/test')
    expect(sent.entries).toMatchObject([{ action: 'sendTestEvent', target }])
    const again = await audited('POST', '/notifications/hook/redeliver', { from: '1', to: '2' })
    expect(again.entries).toEqual([
      {
        action: 'redeliverDeliveries',
        target,
        after: { from: '1', to: '2', redelivered: expect.any(Number) },
      },
    ])
    const [delivery] = await until(
      async () => (await service.api<{ id: string }[]>('GET', '/notifications/hook/deliveries')).body.data,
      ({ length }) => length > 0,
    )
    const one = await audited('POST', `/notifications/hook/deliveries/${delivery?.id}/redeliver`)
    expect(one.entries).toMatchObject([{ action: 'redeliverDelivery', target }])
    expect((await audited('DELETE', '/notifications/hook')).entries).toEqual([
      { action: 'deleteNotification', target, before: { ...notification, has_signing_key: true } },
    ])
  })

  test('what is signed, by its hash', async () => {
    const message = 'a message that only its sender knows'
    const target = 'relayer main'
    const signed = await audited('POST', '/relayers/main/sign', { message })
    expect(signed.entries).toEqual([{ action: 'signMessage', target, after: { sha256: sha256(message) } }])
    const hashes = { domain_separator: '11'.repeat(32), hash_struct_message: '22'.repeat(32) }
    expect((await audited('POST', '/relayers/main/sign-typed-data', hashes)).entries).toEqual([
      { action: 'signTypedData', target, after: { sha256: fingerprintOf(hashes) } },
    ])
    const unsigned = { to: RECEIVER, value: 1, nonce: 900, gas_limit: 21_000, gas_price: 2_000_000_000 }
    const transaction = await audited('POST', '/relayers/main/sign-transaction', unsigned)
    const { signed_transaction } = transaction.data as unknown as { signed_transaction: string }
    expect(transaction.entries).toEqual([
      {
        action: 'signTransaction',
        target,
        after: { sha256: sha256(Buffer.from(signed_transaction.slice(2), 'hex')) },
      },
    ])
  })

  test('a transaction that is sent, replaced and canceled', async () => {
    const path = '/relayers/main/transactions'
    const sent = await audited('POST', path, { to: RECEIVER, value: 1, speed: 'fast' })
    const target = `transaction ${sent.data.id}`
    const content = { request_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }
    expect(sent.entries).toEqual([{ action: 'sendTransaction', target, after: content }])
    // Before the broadcast a cancellation is final at once.
    await until(
      () => service.api('GET', `${path}/${sent.data.id}`),
      (now) => now.body.data.status === 'submitted',
    )
    const body = { to: RECEIVER, value: 2, speed: 'fastest' }
    const replaced = await audited('PUT', `${path}/${sent.data.id}`, body)
    expect(replaced.entries).toEqual([
      { action: 'replaceTransaction', target, before: content, after: content },
    ])
    expect(replaced.entries[0]?.before).toEqual(sent.entries[0]?.after)
    expect(replaced.entries[0]?.after).not.toEqual(sent.entries[0]?.after)
    expect((await audited('DELETE', `${path}/${sent.data.id}`)).entries).toEqual([
      { action: 'cancelTransaction', target, before: replaced.entries[0]?.after },
    ])
    // A cancellation that is under way changes nothing more.
    expect((await audited('DELETE', `${path}/${sent.data.id}`)).entries).toEqual([])
  })

  test('each transaction that goes with all pending ones', async () => {
    const first = await audited('POST', '/relayers/other/transactions', {
      to: RECEIVER,
      value: 1,
      speed: 'fast',
    })
    const second = await audited('POST', '/relayers/other/transactions', {
      to: RECEIVER,
      value: 1,
      speed: 'fast',
    })
    const { entries } = await audited('DELETE', '/relayers/other/transactions/pending')
    expect(entries.map(({ action, target }) => `${action} ${target}`).toSorted()).toEqual(
      [first, second].map(({ data }) => `deletePendingTransactions transaction ${data.id}`).toSorted(),
    )
  })

  test('the records that the configuration file made', async () => {
    const made = await list('&actor=configuration')
    const ids = made.map(({ action, target_id }) => `${action} ${target_id}`)
    expect(new Set(ids)).toEqual(
      new Set(['main', 'other', 'dev-0', 'dev-1', 'ops'].map((id) => `applyConfiguration ${id}`)),
    )
    for (const entry of made) expect(entry).not.toHaveProperty('request_id')
  })
})

describe('the audit log has no entry of', () => {
  test.each([
    ['a signer that is refused', 'POST', '/signers', { type: 'plain', config: { key: 'no key' } }],
    ['a deletion of nothing', 'DELETE', '/relayers/nobody', undefined],
    [
      'a transaction that is refused',
      'POST',
      '/relayers/main/transactions',
      { to: 'x', value: 1, speed: 'fast' },
    ],
    ['a list', 'GET', '/relayers', undefined],
    [
      'a call of a node',
      'POST',
      '/relayers/main/rpc',
      { jsonrpc: '2.0', method: 'eth_chainId', params: [], id: 1 },
    ],
  ])('%s', async (name, method, path, body) => {
    const id = name.replaceAll(' ', '-')
    await service.api(method, path, body, { 'X-Request-Id': id })
    expect(await list(`&request_id=${id}`)).toEqual([])
  })
})

describe('the list', () => {
  test('ends page by page, and refuses the id of no entry', async () => {
    const seen: string[] = []
    const read = async (cursor: string) =>
      (await service.api<Entry[]>('GET', `/audit?limit=7${cursor}`)).body.data.map(({ id }) => id)
    for (let page = await read(''); page.length > 0; page = await read(`&before=${page.at(-1)}`))
      seen.push(...page)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toContain('management/1')
    const { status, body } = await service.api('GET', '/audit?before=management/999999')
    expect([status, body.error]).toEqual([400, 'query.before: there is no entry management/999999.'])
  })

  test.each([
    'target_id=%00',
    'from=0000-01-01T00:00:00Z',
    'to=9999-12-31T23:59:59.999Z',
    'from=2016-12-31T23:59:60Z',
  ])('takes %s', async (query) => {
    const { status, body } = await service.api('GET', `/audit?${query}`)
    expect([200, 400], JSON.stringify(body)).toContain(status)
  })

  test('has no secret', async () => {
    const database = JSON.stringify(await list())
    expect(SECRETS.filter((secret) => database.includes(secret.replace('0x', '')))).toEqual([])
  })
})

test('200 requests at the same time on three relayers make whole chains', async () => {
  const own = await createDataDir()
  onTestFinished(() => rm(own, { recursive: true, force: true }))
  const on = { network: 'anvil', network_type: 'evm' }
  const key = (id: string, value: string) => ({
    id,
    type: 'plain',
    config: { key: { type: 'plain', value } },
  })
  // Nothing of other tests waits in the pool for these accounts.
  const keys = ['a', 'b', 'c'].map((id) => [id, id.repeat(64)] as const)
  for (const [, secret] of keys)
    await anvil.rpc('anvil_setBalance', [privateKeyToAddress(`0x${secret}`), '0xffffffffffffffffffff'])
  const busy = await startService({
    rpcUrls: [anvil.url],
    dataDir: own,
    relayers: keys.map(([id]) => ({ id, name: id, signer_id: id, ...on })),
    signers: keys.map(([id, secret]) => key(id, secret)),
  })
  try {
    const account = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        index % 4 === 3
          ? busy.api('POST', `/relayers/${'abc'[index % 3]}/sign`, { message: `${index}` })
          : busy.api('POST', `/relayers/${'abc'[index % 3]}/transactions`, {
              to: account,
              value: 1,
              speed: 'fast',
            }),
      ),
    )
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  } finally {
    await busy.stop()
  }
  const database = await openDatabase({ dataDir: own }, createLogger({ level: 'silent' }))
  const reports = await verifyLog(database.db)
  await database.close()
  expect(reports.filter(({ problem }) => problem !== undefined)).toEqual([])
  const ofRelayers = reports.filter(({ chain }) => chain.startsWith('relayer:'))
  expect(ofRelayers.map(({ chain }) => chain)).toEqual(['relayer:a', 'relayer:b', 'relayer:c'])
  expect(ofRelayers.reduce((sum: bigint, { entries }: ChainReport) => sum + entries, 0n)).toBe(200n)
}, 90_000)
