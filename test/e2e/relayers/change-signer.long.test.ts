import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  startWeb3Signer,
  type Web3Signer,
  web3SignerKey,
} from '../../../simulators/key-services/web3signer.ts'
import { type Anvil, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { RECEIVER, type Service, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const SECRET = '4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356'
const OTHER = '55'.repeat(32)
const ADDRESS = privateKeyToAddress(`0x${SECRET}`)

let server: Web3Signer
let anvil: Anvil
let service: Service
let folder: string

const plain = (id: string, secret: string) => ({
  id,
  type: 'plain',
  config: { key: { type: 'plain', value: secret } },
})
const remote = (id: string, secret: string) => ({
  id,
  type: 'web3signer',
  config: { url: server.url, public_key: web3SignerKey(secret) },
})

beforeAll(async () => {
  server = await startWeb3Signer({ secrets: [SECRET, OTHER] })
  anvil = await startAnvil()
  await anvil.rpc('anvil_setBalance', [ADDRESS, '0x8ac7230489e80000'])
  folder = await mkdtemp(join(tmpdir(), 'relayer-signer-'))
  service = await start()
}, 60_000)
afterAll(async () => {
  await service.stop()
  await anvil.stop()
  await server.stop()
  await rm(folder, { recursive: true })
})

const start = () =>
  startService({
    dataDir: folder,
    rpcUrls: [anvil.url],
    signers: [plain('file', SECRET), remote('kms', SECRET), plain('other', OTHER)],
    relayers: [{ id: 'main', name: 'Main', signer_id: 'file', ...ON_ANVIL }],
    env: {
      STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 'sealing').toString('base64'),
      RELAYER_ALLOW_PRIVATE_URLS: 'true',
    },
  })

interface Shown {
  readonly address: string
  readonly signer_id: string
  readonly system_disabled: boolean
}
const patch = (body: object) => service.api<Shown>('PATCH', '/relayers/main', body)
const send = async (value: number) => {
  const { body } = await service.api<Transaction>('POST', '/relayers/main/transactions', {
    to: RECEIVER,
    value,
    speed: 'fast',
  })
  expect(body.error).toBeUndefined()
  return body.data.id
}
const included = (id: string) =>
  until(
    async () => (await service.api<Transaction>('GET', `/relayers/main/transactions/${id}`)).body.data,
    ({ status }) => status === 'mined' || status === 'confirmed',
  )
const nonce = async () => Number(await anvil.rpc<string>('eth_getTransactionCount', [ADDRESS, 'latest']))

describe('a change of the signer of a relayer', () => {
  test('to the same key in another place keeps the account, its nonces and what is under way', async () => {
    const before = [await send(1), await send(2)]
    const { status, body } = await patch({ signer_id: 'kms' })
    expect([status, body.data]).toMatchObject([
      200,
      { address: ADDRESS, signer_id: 'kms', system_disabled: false },
    ])
    for (const id of [...before, await send(3)]) await included(id)
    expect(await nonce()).toBe(3)

    // The new place signs, and no longer the old one.
    server.reload([])
    onTestFinished(() => server.reload([SECRET, OTHER]))
    const waiting = await send(4)
    const seen = await until(
      async () => (await service.api<Transaction>('GET', `/relayers/main/transactions/${waiting}`)).body.data,
      ({ status_reason: reason }) => reason !== undefined,
    )
    expect(seen.status_reason).toMatch(/signer "kms": Web3Signer key .* does not exist on this server/)
    expect((await patch({ signer_id: 'file' })).body.data.signer_id).toBe('file')
    await included(waiting)
    expect(await nonce()).toBe(4)
  }, 60_000)

  test.each<[string, object, number, string, RegExp]>([
    [
      'of another address',
      { signer_id: 'other' },
      400,
      'invalid_request',
      new RegExp(
        `^signer_id: signer "other" has the key of ${privateKeyToAddress(`0x${OTHER}`)}, and relayer "main" operates ${ADDRESS}; create a relayer for another account\\.$`,
      ),
    ],
    [
      'that does not exist',
      { signer_id: 'none' },
      404,
      'signer_not_found',
      /^signer_id: there is no signer "none"\.$/,
    ],
    ['that is null', { signer_id: null }, 400, 'invalid_request', /^body\.signer_id/],
  ])('to one %s is refused', async (_what, body, status, code, error) => {
    const answer = await patch(body)
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(answer.body.error).toMatch(error)
    expect((await service.api<Shown>('GET', '/relayers/main')).body.data.signer_id).toBe('file')
  })

  test('lets the old signer go: it can be deleted, and the new one cannot', async () => {
    const created = await service.api('POST', '/signers', remote('api', SECRET))
    expect(created.status).toBe(201)
    await patch({ signer_id: 'api' })
    expect((await service.api('DELETE', '/signers/api')).body.code).toBe('in_use')
    await patch({ signer_id: 'file' })
    expect((await service.api('DELETE', '/signers/api')).status).toBe(200)
  })

  test('lasts over a restart, although the file names the signer before', async () => {
    await patch({ signer_id: 'kms' })
    await service.stop()
    service = await start()
    expect((await service.api<Shown>('GET', '/relayers/main')).body.data.signer_id).toBe('kms')
    await included(await send(5))
  }, 60_000)
})
