import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { address, getPublicKeyFromAddress, signatureBytes, verifySignature } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_KEY_ID, startCdp } from '../../../simulators/key-services/cdp.ts'
import { startSolana, type TestSolana } from '../../../simulators/solana/start-solana.ts'
import { ACCOUNTS, SECRET } from '../../signers/conformance/keys.ts'
import { rerouted } from '../../support/key-services/rerouted.ts'
import { type ServiceProcess, startProcess } from '../../support/process.ts'
import { callService, type Transaction } from '../../support/service.ts'
import { RECEIVER, SOL, solanaConfig, transferBetween } from '../../support/solana-scenario.ts'
import { until } from '../../support/until.ts'

let solana: TestSolana
let service: ServiceProcess
const ends: (() => Promise<void>)[] = []

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-cdp-'))
  ends.push(() => rm(folder, { recursive: true }))
  solana = await startSolana({ slotMs: 50 })
  ends.push(solana.stop)
  solana.airdrop(ACCOUNTS.solana, 10n * SOL)
  solana.airdrop(RECEIVER, SOL)
  const cdp = await startCdp(SECRET, ACCOUNTS.evm)
  ends.push(cdp.stop)
  const config = {
    api_key_id: API_KEY_ID,
    api_key_secret: { type: 'plain', value: cdp.secrets.ed25519 },
    wallet_secret: { type: 'plain', value: cdp.secrets.wallet },
    account_address: ACCOUNTS.solana,
  }
  service = await startProcess({
    rpcUrl: '',
    folder,
    env: rerouted(['api.cdp.coinbase.com'], cdp.url),
    config: {
      networks: solanaConfig(solana).networks,
      notifications: [],
      signers: [{ id: 'held', type: 'cdp', config }],
      relayers: [
        {
          id: 'main',
          name: 'Main',
          network: 'local',
          network_type: 'solana',
          signer_id: 'held',
          policies: {},
        },
      ],
    },
  })
  ends.push(service.kill)
}, 60_000)
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

const call = async <Data>(method: string, path: string, body?: object) =>
  (await callService<Data>(service.url, { method, path: `/relayers/main${path}`, body })).body

describe('a Solana account whose key is at Coinbase', () => {
  test('sends transactions', async () => {
    expect((await call<{ address: string }>('GET', '')).data.address).toBe(ACCOUNTS.solana)
    const body = transferBetween(ACCOUNTS.solana, RECEIVER, 1_000n)
    const sent = await call<Transaction>('POST', '/transactions', body)
    expect(sent.error).toBeUndefined()
    await until(
      async () => (await call<Transaction>('GET', `/transactions/${sent.data.id}`)).data,
      ({ status }) => status === 'confirmed',
      { timeoutMs: 30_000 },
    )
    expect(solana.account(RECEIVER)?.lamports).toBe(SOL + 1_000n)
  }, 60_000)

  test('signs texts', async () => {
    const { data, error } = await call<{ sig: string }>('POST', '/sign', { message: 'grüße €' })
    expect(error).toBeUndefined()
    const publicKey = await getPublicKeyFromAddress(address(ACCOUNTS.solana))
    const bytes = signatureBytes(Uint8Array.from(Buffer.from(data.sig, 'hex')))
    expect(await verifySignature(publicKey, bytes, new TextEncoder().encode('grüße €'))).toBe(true)
  })
})
