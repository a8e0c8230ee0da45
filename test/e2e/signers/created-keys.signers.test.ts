import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type FaultProxy, PASS, startFaultProxy } from '../../../simulators/key-services/fault-proxy.ts'
import { APP_ROLE, NAMESPACE, startVault } from '../../../simulators/key-services/vault.ts'
import { relayer as runCli } from '../../cli/spawn.ts'
import { type Anvil, anvilNetwork, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { AWS_ENV, type AwsKms, countKeys, REGION, startAwsKms } from '../../support/key-services/aws-kms.ts'
import { startProcess } from '../../support/process.ts'
import { API_KEY, callService, RECEIVER, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const SEALING_KEY = Buffer.alloc(32, 'sealing').toString('base64')

interface Creation {
  readonly signer_id: string
  readonly state: string
  readonly key_name?: string
  readonly key?: { readonly key_id?: string }
  readonly addresses?: { readonly evm?: string; readonly solana?: string; readonly stellar?: string }
  readonly detail?: string
}

let kms: AwsKms
let proxy: FaultProxy
let anvil: Anvil

beforeAll(async () => {
  ;[kms, anvil] = await Promise.all([startAwsKms([]), startAnvil()])
  proxy = await startFaultProxy(kms.url)
}, 300_000)
beforeEach(() => proxy.behave(PASS))
afterAll(async () => {
  await anvil.stop()
  await proxy.stop()
  await kms.stop()
})

const EMPTY = () => ({
  networks: [anvilNetwork([anvil.url])],
  notifications: [],
  signers: [],
  relayers: [],
})

/** A folder in which services start one after the other, each of which can be killed. */
async function setUp(env: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'created-keys-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const start = async () => {
    const service = await startProcess({
      rpcUrl: anvil.url,
      folder,
      config: EMPTY(),
      env: { STORAGE_ENCRYPTION_KEY: SEALING_KEY, ...AWS_ENV, AWS_ENDPOINT_URL_KMS: proxy.url, ...env },
    })
    onTestFinished(() => service.kill())
    const call = <Data>(method: string, path: string, body?: object) =>
      callService<Data>(service.url, { method, path, ...(body && { body }) })
    return { ...service, call }
  }
  return { folder, start }
}

const IN_KMS = { signer_id: 'treasury', type: 'aws_kms', curve: 'secp256k1', config: { region: REGION } }

describe('a key that AWS KMS creates for the service', () => {
  test('pays on a chain, and no answer has more of it than its name and address', async () => {
    const { start } = await setUp()
    const { call } = await start()
    const { status, body } = await call<Creation>('POST', '/key-creations', IN_KMS)
    expect([status, body.error]).toEqual([201, undefined])
    expect(body.data).toMatchObject({ signer_id: 'treasury', state: 'usable' })
    expect(body.data.key?.key_id).toMatch(/^arn:aws:kms:eu-west-1:\d+:key\/[0-9a-f-]{36}$/)
    expect(body.metadata?.logs[0]?.message).toContain('deny kms:ScheduleKeyDeletion')
    expect((await call('GET', '/signers/treasury')).body.data).toEqual({
      ...{ id: 'treasury', type: 'aws_kms' },
      config: { region: REGION, key_id: body.data.key?.key_id },
    })
    const address = body.data.addresses?.evm ?? ''
    await anvil.rpc('anvil_setBalance', [address, '0xde0b6b3a7640000'])
    const relayer = { id: 'payouts', name: 'Payouts', signer_id: 'treasury', ...ON_ANVIL }
    expect((await call('POST', '/relayers', relayer)).status).toBe(201)
    const sent = await call<Transaction>('POST', '/relayers/payouts/transactions', { to: RECEIVER, value: 1 })
    const included = await until(
      async () =>
        (await call<Transaction>('GET', `/relayers/payouts/transactions/${sent.body.data.id}`)).body.data,
      ({ status: now }) => now === 'mined' || now === 'confirmed',
    )
    expect(included).toMatchObject({ from: address, nonce: 0 })
    const { body: list } = await call<Creation[]>('GET', '/key-creations')
    expect(list.data).toEqual([body.data])
    const { body: audit } = await call<{ action: string }[]>(
      'GET',
      '/audit?target_type=signer&target_id=treasury',
    )
    expect(audit.data.map(({ action }) => action).sort()).toEqual(['createKey', 'createSigner'])
  }, 120_000)

  const cases = [0, 1, 2].flatMap((passing) =>
    (['request', 'answer'] as const).map((lost) => [lost, passing] as const),
  )
  test.each(cases)(
    'is one key when the process dies with the %s of call %i under way',
    async (lost, passing) => {
      const { start } = await setUp()
      const before = await countKeys(kms)
      const first = await start()
      const under = proxy.loseAfter(passing, lost, { isKept: true })
      const asked = first.call('POST', '/key-creations', IN_KMS).catch(() => undefined)
      await under
      await first.kill()
      await asked
      const second = await start()
      const { body: list } = await second.call<Creation[]>('GET', '/key-creations')
      const isMade = passing > 0
      expect(list.data).toMatchObject([
        {
          state: isMade ? 'made' : 'requested',
          detail: expect.stringContaining('Send the same request again'),
        },
      ])
      expect(list.data[0]?.key_name === undefined).toBe(!isMade)
      expect((await second.call('GET', '/signers/treasury')).status).toBe(404)
      const again = () => second.call<Creation>('POST', '/key-creations', IN_KMS)
      // A request that never arrived looks like one that is late, until it surely would have arrived.
      const isLate = lost === 'request' && !isMade
      const answer = await again()
      expect([answer.status, answer.body.code]).toEqual(
        isLate ? [500, 'signer_unavailable'] : [201, undefined],
      )
      if (isLate) {
        expect(answer.body.error).toMatch(/may still be on its way\. Repeat this request after 20/)
        expect(await countKeys(kms)).toBe(before)
        await until(again, ({ status }) => status === 201, { timeoutMs: 90_000 })
      }
      expect(await countKeys(kms)).toBe(before + 1)
      expect((await second.call('GET', '/signers/treasury')).status).toBe(200)
    },
    180_000,
  )

  test('is made by the command line, which prints its address', async () => {
    const { folder, start } = await setUp()
    const { url } = await start()
    const cli = (args: readonly string[], input = '') =>
      runCli({ cwd: folder, args, input, env: { RELAYER_URL: url, RELAYER_API_KEY: API_KEY } })
    const place = JSON.stringify({ region: REGION })
    const inKms = [
      'signers',
      'create-key',
      'cold',
      '--type',
      'aws_kms',
      '--curve',
      'ed25519',
      '--config',
      '-',
    ]
    const made = await cli(inKms, place)
    expect(made).toMatchObject({ code: 0 })
    expect(made.out).toMatch(/stellar: +G[A-Z2-7]{55}/)
    expect(made.err).toContain('kms:ScheduleKeyDeletion')
    expect((await cli(inKms, place)).out).toBe(made.out)
    const unreadable = await cli(inKms, 'no JSON')
    expect([unreadable.code, unreadable.err]).toEqual([2, expect.stringContaining('expected a JSON object')])
    expect((await cli(['signers', 'keys'])).out).toMatch(/cold +aws_kms +ed25519 +usable/)
  }, 120_000)
})

describe('a request for a key', () => {
  test('of a curve that the service does not have is refused with those that have it', async () => {
    const { start } = await setUp({ RELAYER_ALLOW_PRIVATE_URLS: 'true' })
    const { call } = await start()
    const vault = await startVault({ secrets: {}, transit: {} })
    onTestFinished(() => vault.stop())
    const config = { address: vault.url, namespace: NAMESPACE, ...APP_ROLE }
    const onEvm = { signer_id: 'x', type: 'vault_transit', curve: 'secp256k1', config }
    const refused = await call('POST', '/key-creations', onEvm)
    expect([refused.status, refused.body.code]).toEqual([400, 'not_supported'])
    expect(refused.body.error).toBe(
      'body.curve: keys of the type vault_transit are of ed25519, not of secp256k1, which EVM needs. These types have them: aws_kms, google_cloud_kms, azure_key_vault, turnkey, and generated, whose key this service creates itself.',
    )
    const strange = { ...onEvm, curve: 'ed25519', config: { ...config, mount_point: 'a\u0000b' } }
    expect((await call('POST', '/key-creations', strange)).body).toMatchObject({
      code: 'invalid_request',
      error: 'body.config: has a text with characters that no name has.',
    })
    const azure = { auth_type: 'managed_identity', vault_url: 'https://payments.vault.azure.net' }
    const onStellar = { signer_id: 'x', type: 'azure_key_vault', curve: 'ed25519', config: azure }
    expect((await call('POST', '/key-creations', onStellar)).body.code).toBe('not_supported')
    const made = await call<Creation>('POST', '/key-creations', { ...onEvm, curve: 'ed25519' })
    expect(made.body.data).toMatchObject({ state: 'usable', config: { exportable: false } })
    expect(JSON.stringify(made.body)).not.toContain(APP_ROLE.secret_id)
    const other = { ...onEvm, curve: 'ed25519', config: { ...config, exportable: true } }
    const conflict = await call('POST', '/key-creations', other)
    expect([conflict.status, conflict.body.code]).toEqual([409, 'already_exists'])
    expect(conflict.body.error).toContain('DELETE /api/v1/key-creations/x')
    expect((await call('DELETE', '/key-creations/x')).status).toBe(200)
    expect((await call('DELETE', '/key-creations/x')).status).toBe(404)
    expect((await call('GET', '/signers/x')).status).toBe(200)
  }, 120_000)

  test('needs a scope of its own', async () => {
    const { start } = await setUp()
    const { url, call } = await start()
    const key = await call<{ secret: string }>('POST', '/api-keys', {
      name: 'Signers',
      scopes: ['signers:admin', 'signers:read'],
    })
    expect(key.status).toBe(201)
    const response = await fetch(`${url}/api/v1/key-creations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.body.data.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(IN_KMS),
    })
    expect([response.status, await response.json()]).toMatchObject([
      403,
      { code: 'insufficient_scope', error: expect.stringContaining('signers:create-keys') },
    ])
  }, 60_000)
})
