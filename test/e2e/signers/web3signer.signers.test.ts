import { recoverMessageAddress, recoverTypedDataAddress } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  startWeb3Signer,
  type Web3Signer,
  web3SignerKey,
} from '../../../simulators/key-services/web3signer.ts'
import { type Anvil, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { RECEIVER, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const SECRET = '92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e'
const ADDRESS = privateKeyToAddress(`0x${SECRET}`)

let server: Web3Signer
let anvil: Anvil

beforeAll(async () => {
  server = await startWeb3Signer({ secrets: [SECRET] })
  anvil = await startAnvil()
  await anvil.rpc('anvil_setBalance', [ADDRESS, '0x8ac7230489e80000'])
}, 60_000)
afterAll(async () => {
  await anvil.stop()
  await server.stop()
})

const signer = () => ({
  id: 'remote',
  type: 'web3signer',
  config: { url: server.url, public_key: web3SignerKey(SECRET) },
})
const start = () =>
  startService({
    rpcUrls: [anvil.url],
    signers: [signer()],
    relayers: [{ id: 'main', name: 'Main', signer_id: 'remote', ...ON_ANVIL }],
    env: {
      STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 'sealing').toString('base64'),
      RELAYER_ALLOW_PRIVATE_URLS: 'true',
    },
  })

describe('an EVM account whose key is behind Web3Signer', () => {
  test('sends, signs messages and typed data, with signatures of its address', async () => {
    const service = await start()
    onTestFinished(() => service.stop())
    const shown = await service.api<{ address: string }>('GET', '/relayers/main')
    expect(shown.body.data.address).toBe(ADDRESS)

    for (const prices of [{ speed: 'fast' }, { gas_price: 20_000_000_000 }]) {
      const content = { to: RECEIVER, value: 1, data: '0x1234', ...prices }
      const { body } = await service.api<Transaction>('POST', '/relayers/main/transactions', content)
      expect(body.error).toBeUndefined()
      await until(
        async () =>
          (await service.api<Transaction>('GET', `/relayers/main/transactions/${body.data.id}`)).body.data,
        ({ status }) => status === 'mined' || status === 'confirmed',
      )
    }
    expect(Number(await anvil.rpc('eth_getTransactionCount', [ADDRESS, 'latest']))).toBe(2)

    const message = 'grüße €'
    const signed = await service.api<{ sig: string }>('POST', '/relayers/main/sign', { message })
    expect(await recoverMessageAddress({ message, signature: `0x${signed.body.data.sig}` })).toBe(ADDRESS)

    const typed = {
      domain: { name: 'Test', chainId: 31337 },
      types: { Mail: [{ name: 'text', type: 'string' }] },
      primaryType: 'Mail',
      message: { text: 'hello' },
    } as const
    const answer = await service.api<{ sig: string }>('POST', '/relayers/main/sign-typed-data', typed)
    expect(answer.body.error).toBeUndefined()
    expect(await recoverTypedDataAddress({ ...typed, signature: `0x${answer.body.data.sig}` })).toBe(ADDRESS)
  }, 60_000)

  test('is made over the API, and shown without the path of its url', async () => {
    const service = await start()
    onTestFinished(() => service.stop())
    const { type, config } = signer()
    const created = await service.api('POST', '/signers', { id: 'mine', type, config })
    expect([created.status, created.body.data]).toEqual([201, { id: 'mine', type, config }])
    const withFiles = { ...config, tls: { cert_path: '/etc/hostname', key_path: '/etc/hostname' } }
    const refused = await service.api('POST', '/signers', { type, config: withFiles })
    expect([refused.status, refused.body.error]).toEqual([
      400,
      expect.stringMatching(/^body\.config\.tls: there is no such field here/),
    ])
    const absent = { ...config, public_key: web3SignerKey('44'.repeat(32)) }
    const unknown = await service.api('POST', '/signers', { type, config: absent })
    expect([unknown.status, unknown.body.code]).toEqual([400, 'signer_refused'])
  }, 60_000)
})
