import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startAnvil } from '../../support/anvil.ts'
import { RECEIVER, type Service, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

interface Signer {
  readonly id: string
  readonly type: string
  readonly config: object
}

const SEALING_KEY = Buffer.alloc(32, 'sealing').toString('base64')
const KEY = '7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

// No one is asked for anything here.
const OPTIONS = { rpcUrls: ['http://127.0.0.1:9'], env: { STORAGE_ENCRYPTION_KEY: SEALING_KEY } }

let service: Service

beforeAll(async () => {
  service = await startService(OPTIONS)
})
afterAll(() => service.stop())

const create = (body: object) => service.api<Signer>('POST', '/signers', body)
const plain = (key: string, id?: string) => ({ ...(id && { id }), type: 'plain', config: { key } })

describe('a signer', () => {
  test('is created, listed, shown and deleted, and its key is never seen', async () => {
    const created = await create(plain(`0x${KEY}`, 'hot'))
    expect([created.status, created.body]).toEqual([
      201,
      { success: true, data: { id: 'hot', type: 'local', config: {} } },
    ])
    expect((await service.api('GET', '/signers/hot')).body).toEqual(created.body)
    const list = await service.api<Signer[]>('GET', '/signers')
    expect(list.body.data.map(({ id }) => id)).toEqual(['dev-0', 'dev-1', 'hot'])
    expect(list.body.pagination).toEqual({ current_page: 1, per_page: 10, total_items: 3 })
    const second = await service.api<Signer[]>('GET', '/signers?page=2&per_page=2')
    expect(second.body.data).toEqual([{ id: 'hot', type: 'local', config: {} }])
    const deleted = await service.api('DELETE', '/signers/hot')
    expect([deleted.status, deleted.body.data]).toEqual([200, 'Signer deleted successfully'])
    expect((await service.api('GET', '/signers/hot')).body.code).toBe('signer_not_found')
    expect((await service.api('DELETE', '/signers/hot')).status).toBe(404)
  })

  test('by a workload identity that nothing describes is refused with the name of the missing part', async () => {
    const config = {
      auth_type: 'workload_identity',
      vault_url: 'https://payments.vault.azure.net',
      key_name: 'relayer',
    }
    const { status, body } = await create({ type: 'azure_key_vault', config })
    expect([status, body.code]).toEqual([400, 'signer_refused'])
    expect(body.error).toContain('or the variables AZURE_TENANT_ID, AZURE_CLIENT_ID')
  })

  test.each([
    ['hex', KEY],
    ['hex with 0x', `0x${KEY.toUpperCase()}`],
    ['a Stellar seed', Keypair.random().secret()],
    [
      'a Solana key pair',
      // RFC 8032, test 1: the seed and then its public key.
      JSON.stringify([
        ...Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex'),
        ...Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex'),
      ]),
    ],
  ])('is made of %s; without an id it gets a new one', async (_form, key) => {
    const { status, body } = await create(plain(key))
    expect([status, body.data.type, body.data.id]).toEqual([201, 'local', expect.stringMatching(UUID)])
    expect((await service.api('DELETE', `/signers/${body.data.id}`)).status).toBe(200)
  })

  test.each<[string, object, RegExp]>([
    ['a key that is too short', plain('0x1234'), /^body\.config\.key: expected 64 hex digits/],
    ['a key of nothing but zeros', plain('0'.repeat(64)), /^body\.config\.key: expected/],
    ['no key', { type: 'plain', config: {} }, /^body\.config\.key: is required/],
    [
      'a key of AWS KMS without a name',
      { type: 'aws_kms', config: { region: 'eu-west-1' } },
      /^body\.config\.key_id: is required/,
    ],
    ['a kind of the file', { type: 'local', config: { key: KEY } }, /^body\.type/],
    ['an id that leaves its path', plain(KEY, '../other'), /^body\.id/],
    ['an id that begins with a point', plain(KEY, '.hidden'), /^body\.id/],
    ['an id of 101 characters', plain(KEY, 'a'.repeat(101)), /^body\.id/],
    ['another field', { ...plain(KEY), passphrase: 'x' }, /^body\.passphrase: there is no such field/],
  ])('%s is 400 that names the field, and quotes no key', async (_name, body, expected) => {
    const answer = await create(body)
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
    expect(answer.body.error).toMatch(expected)
    expect(answer.body.error).not.toContain(KEY)
  })

  test('that the service generates is another one each time, without a secret in its answer', async () => {
    const answers = await Promise.all(
      [{}, { config: {} }].map((rest) => create({ type: 'generated', ...rest })),
    )
    const addresses = answers.map(({ status, body }) => {
      expect([status, Object.keys(body.data)]).toEqual([201, ['id', 'type', 'config']])
      return Object.values((body.data.config as { addresses: object }).addresses) as string[]
    })
    expect(new Set(addresses.flat()).size).toBe(6)
    const shapes = [/^0x[0-9a-fA-F]{40}$/, /^[1-9A-HJ-NP-Za-km-z]{32,44}$/, /^G[A-Z2-7]{55}$/]
    for (const own of addresses)
      expect(own.map((address, at) => shapes[at]?.test(address))).toEqual([true, true, true])
    for (const { body } of answers) {
      expect((await service.api('GET', `/signers/${body.data.id}`)).body.data).toEqual(body.data)
      await service.api('DELETE', `/signers/${body.data.id}`)
    }
    const refused = await create({ type: 'generated', config: { key: KEY } })
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringMatching(/^body\.config\.key: /)])
  })

  test('is created once: of two at the same time one is a conflict', async () => {
    const answers = await Promise.all([create(plain(KEY, 'twice')), create(plain(KEY, 'twice'))])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
    const again = await create(plain(KEY, 'dev-0'))
    expect([again.status, again.body.message, again.body.code]).toEqual([409, 'Conflict', 'already_exists'])
    await service.api('DELETE', '/signers/twice')
  })

  test('that relayers sign with is not deleted', async () => {
    const { status, body } = await service.api('DELETE', '/signers/dev-1')
    expect([status, body.code]).toEqual([400, 'in_use'])
    expect(body.error).toBe('Signer dev-1 is used by "other"; delete what uses it first.')
    expect((await service.api('GET', '/signers/dev-1')).status).toBe(200)
  })

  test('cannot be changed', async () => {
    const { status, headers } = await service.api('PATCH', '/signers/dev-1', {})
    expect([status, headers.get('allow')]).toEqual([405, 'GET, DELETE, HEAD, OPTIONS'])
  })
})

test('without a sealing key no signer is accepted, and the answer names the setting', async () => {
  const without = await startService({ rpcUrls: OPTIONS.rpcUrls })
  onTestFinished(() => without.stop())
  const { status, body } = await without.api('POST', '/signers', plain(KEY))
  expect([status, body.code]).toEqual([400, 'not_supported'])
  expect(body.error).toContain('STORAGE_ENCRYPTION_KEY')
})

test('signers outlive a restart; one of the file that was deleted stays deleted, and its id is not given away', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'relayer-signers-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const relayer = { id: 'main', name: 'Main', network: 'anvil', network_type: 'evm', signer_id: 'dev-0' }
  const options = { ...OPTIONS, dataDir, relayers: [{ ...relayer, paused: false }] }
  const first = await startService(options)
  expect((await first.api('POST', '/signers', plain(KEY, 'kept'))).status).toBe(201)
  expect((await first.api('DELETE', '/signers/dev-1')).status).toBe(200)
  await first.stop()
  const second = await startService(options)
  const { body } = await second.api<Signer[]>('GET', '/signers')
  expect(body.data.map(({ id }) => id)).toEqual(['dev-0', 'kept'])
  const taken = await second.api('POST', '/signers', plain(KEY, 'dev-1'))
  expect([taken.status, taken.body.error]).toEqual([
    409,
    'There is a signer with the id dev-1 already, or an entry of the configuration file has it.',
  ])
  await second.stop()
})

test('a relayer pays with a generated key, before and after a restart', async () => {
  const anvil = await startAnvil()
  onTestFinished(() => anvil.stop())
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'generated-'))
  onTestFinished(() => rm(DATA_DIR, { recursive: true }))
  const options = { rpcUrls: [anvil.url], env: { STORAGE_ENCRYPTION_KEY: SEALING_KEY, DATA_DIR } }
  const payFrom = async ({ api }: Service) => {
    const { body } = await api<Transaction>('POST', '/relayers/payouts/transactions', {
      to: RECEIVER,
      value: 1,
    })
    return until(
      async () => (await api<Transaction>('GET', `/relayers/payouts/transactions/${body.data.id}`)).body.data,
      ({ status }) => status === 'mined' || status === 'confirmed',
    )
  }
  const first = await startService(options)
  const { body: signer } = await first.api<Signer>('POST', '/signers', { id: 'fresh', type: 'generated' })
  const { evm: address } = (signer.data.config as { addresses: { evm: string } }).addresses
  await anvil.rpc('anvil_setBalance', [address, '0xde0b6b3a7640000'])
  const relayer = {
    id: 'payouts',
    name: 'Payouts',
    network: 'anvil',
    network_type: 'evm',
    signer_id: 'fresh',
  }
  expect((await first.api('POST', '/relayers', relayer)).status).toBe(201)
  expect(await payFrom(first)).toMatchObject({ from: address, nonce: 0 })
  await first.stop()
  const second = await startService(options)
  onTestFinished(() => second.stop())
  expect(await payFrom(second)).toMatchObject({ from: address, nonce: 1 })
})
