import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Anvil, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { AWS_ENV, type AwsKms, REGION, startAwsKms } from '../../support/key-services/aws-kms.ts'
import { RECEIVER, type Service, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const SECRET = '7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6'
const OTHER_SECRET = '11'.repeat(32)
const ADDRESS = privateKeyToAddress(`0x${SECRET}`)
const SEALING_KEY = Buffer.alloc(32, 'sealing').toString('base64')

const keyOf = (secret: string) => [{ alias: 'alias/hot', spec: 'ECC_SECG_P256K1', secret }] as const
const SIGNER = { id: 'hot', type: 'aws_kms', config: { region: REGION, key_id: 'alias/hot' } }
const RELAYER = { id: 'main', name: 'Main', signer_id: 'hot', ...ON_ANVIL }

let kms: AwsKms
let anvil: Anvil

beforeAll(async () => {
  kms = await startAwsKms(keyOf(SECRET))
  for (const [name, value] of Object.entries({ ...AWS_ENV, AWS_ENDPOINT_URL_KMS: kms.url }))
    vi.stubEnv(name, value)
  anvil = await startAnvil()
  await anvil.rpc('anvil_setBalance', [ADDRESS, '0x8ac7230489e80000'])
}, 300_000)
afterAll(async () => {
  vi.unstubAllEnvs()
  await anvil.stop()
  await kms.stop()
})

/** Kills the process of KMS. The one that takes its place has the same keys, unless others are given. */
const kill = () => kms.stop()
const revive = async (secret = SECRET) => {
  kms = await startAwsKms(keyOf(secret), kms.port)
}

/** A test that failed may have left no KMS behind. */
beforeEach(async () => {
  if (!(await isAlive())) await revive()
})
const isAlive = () =>
  fetch(kms.url).then(
    () => true,
    () => false,
  )

const start = (dataDir?: string) =>
  startService({
    rpcUrls: [anvil.url],
    signers: [SIGNER],
    relayers: [RELAYER],
    env: { STORAGE_ENCRYPTION_KEY: SEALING_KEY },
    ...(dataDir && { dataDir }),
  })

const send = async (service: Service, value: number) => {
  const { status, body } = await service.api('POST', '/relayers/main/transactions', {
    to: RECEIVER,
    value,
    speed: 'fast',
  })
  expect(body.error).toBeUndefined()
  expect(status).toBe(200)
  return body.data.id
}
const get = async (service: Service, id: string) =>
  (await service.api<Transaction>('GET', `/relayers/main/transactions/${id}`)).body.data
const nonce = async () => Number(await anvil.rpc<string>('eth_getTransactionCount', [ADDRESS, 'latest']))
const included = (service: Service, id: string) =>
  until(
    () => get(service, id),
    ({ status }) => status === 'mined' || status === 'confirmed',
    { timeoutMs: 60_000 },
  )

describe('an EVM account whose key is in AWS KMS', () => {
  test('sends; while KMS is gone nothing is lost, and afterwards everything is sent once', async () => {
    const service = await start()
    onTestFinished(() => service.stop())
    const { body } = await service.api<{ address: string }>('GET', '/relayers/main')
    expect(body.data.address).toBe(ADDRESS)
    await included(service, await send(service, 1))
    const before = await nonce()

    await kill()
    const first = await send(service, 2)
    const waiting = [first, ...(await Promise.all([3, 4, 5].map((value) => send(service, value))))]
    const seen = await until(
      () => get(service, first),
      ({ status_reason: reason }) => reason?.startsWith('Waiting for its key') === true,
    )
    expect(seen.status).toBe('pending')
    expect(seen.status_reason).toContain('AWS KMS key alias/hot in eu-west-1 cannot be reached')
    const diagnosis = await service.api<{ findings: { code: string }[] }>(
      'GET',
      `/relayers/main/transactions/${first}/diagnosis`,
    )
    expect(diagnosis.body.data.findings.map(({ code }) => code)).toContain('signer_unavailable')
    const signed = await service.api('POST', '/relayers/main/sign', { message: 'hello' })
    expect([signed.status, signed.body.code]).toEqual([500, 'signer_unavailable'])
    expect(await nonce()).toBe(before)

    await revive()
    for (const id of waiting) await included(service, id)
    expect(await nonce()).toBe(before + waiting.length)
    const nonces = await Promise.all(waiting.map(async (id) => (await get(service, id)).nonce))
    expect(new Set(nonces).size).toBe(waiting.length)
  }, 120_000)

  test('starts without KMS after it has seen the key once, and refuses another key', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'relayer-kms-'))
    onTestFinished(() => rm(dataDir, { recursive: true }))
    await (await start(dataDir)).stop()

    await kill()
    const service = await start(dataDir)
    const { body } = await service.api<{ address: string; system_disabled: boolean }>('GET', '/relayers/main')
    expect([body.data.address, body.data.system_disabled]).toEqual([ADDRESS, false])
    const shown = await service.api('GET', '/signers/hot')
    expect(shown.body.data).toEqual({ id: 'hot', type: 'aws_kms', config: SIGNER.config })
    const id = await send(service, 6)

    await revive()
    await included(service, id)
    await service.stop()

    await kill()
    await revive(OTHER_SECRET)
    await expect(start(dataDir)).rejects.toThrow(
      /signer "hot": AWS KMS key alias\/hot in eu-west-1 has another public key/,
    )
    await kill()
    await revive()
  }, 120_000)

  test('does not start when KMS was never reached, and says so', async () => {
    await kill()
    await expect(start()).rejects.toThrow(
      /signer "hot": AWS KMS key alias\/hot in eu-west-1 cannot be reached/,
    )
    await revive()
  }, 60_000)

  test('is disabled with the name of the key when KMS refuses, and enabled when it signs again', async () => {
    const service = await start()
    onTestFinished(() => service.stop())
    const { KMSClient, DescribeKeyCommand, DisableKeyCommand, EnableKeyCommand } = await import(
      '@aws-sdk/client-kms'
    )
    const client = new KMSClient({ region: REGION })
    const KeyId = (await client.send(new DescribeKeyCommand({ KeyId: 'alias/hot' }))).KeyMetadata?.KeyId
    const before = await nonce()
    await client.send(new DisableKeyCommand({ KeyId }))
    const id = await send(service, 7)
    interface Shown {
      readonly system_disabled: boolean
      readonly disabled_reason?: { readonly type: string; readonly details: string }
    }
    const relayer = async () => (await service.api<Shown>('GET', '/relayers/main')).body.data
    const { disabled_reason: reason } = await until(relayer, ({ system_disabled: disabled }) => disabled)
    expect(reason).toEqual({
      type: 'SignerCheckFailed',
      details: 'signer "hot": AWS KMS key alias/hot in eu-west-1 is disabled: enable it (DisabledException).',
    })
    expect(await nonce()).toBe(before)
    await client.send(new EnableKeyCommand({ KeyId }))
    client.destroy()
    await included(service, id)
    await until(relayer, ({ system_disabled }) => !system_disabled)
    expect(await nonce()).toBe(before + 1)
  }, 120_000)
})

describe('a signer of the API', () => {
  test('with a key of AWS KMS is proven, shown without secrets, and used', async () => {
    const service = await start()
    onTestFinished(() => service.stop())
    const request = { ...SIGNER, id: 'treasury' }
    const created = await service.api('POST', '/signers', request)
    expect([created.status, created.body.data]).toEqual([201, request])
    expect((await service.api('GET', '/signers/treasury')).body.data).toEqual(request)
    const taken = await service.api('POST', '/relayers', { ...RELAYER, id: 'second', signer_id: 'treasury' })
    expect([taken.status, taken.body.code]).toEqual([400, 'account_taken'])
    const unfit = await service.api('POST', '/relayers', {
      id: 'stellar',
      name: 'Stellar',
      network: 'testnet',
      network_type: 'stellar',
      signer_id: 'treasury',
    })
    expect([unfit.status, unfit.body.code]).toEqual([400, 'invalid_request'])
    expect(unfit.body.error).toBe(
      'signer_id: signer "treasury" has no ed25519 key, which accounts of type stellar need; signers of the types local, plain, mnemonic, aws_kms, google_cloud_kms, turnkey, vault, vault_transit, pkcs11 can have one.',
    )
  }, 60_000)

  test.each([
    ['that does not exist', 'alias/none', 400, 'signer_refused', /does not exist in this account and region/],
  ])(
    'with a key %s is refused',
    async (_what, keyId, status, code, error) => {
      const service = await start()
      onTestFinished(() => service.stop())
      const answer = await service.api('POST', '/signers', {
        ...SIGNER,
        id: 'x',
        config: { ...SIGNER.config, key_id: keyId },
      })
      expect([answer.status, answer.body.code]).toEqual([status, code])
      expect(answer.body.error).toMatch(error)
      expect((await service.api('GET', '/signers/x')).status).toBe(404)
    },
    60_000,
  )
})
