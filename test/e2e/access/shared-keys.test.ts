import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { getBase58Encoder } from '@solana/kit'
import { StrKey } from '@stellar/stellar-sdk/base'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startSolana, type TestSolana } from '../../../simulators/solana/start-solana.ts'
import { startLedger, type TestLedger } from '../../../simulators/stellar/start-ledger.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { createLogger } from '../../../src/log.ts'
import { encryptKeystore } from '../../../src/signers/keystore.ts'
import { API_KEY, plainSigner, type Service, startService } from '../../support/service.ts'
import { solanaConfig } from '../../support/solana-scenario.ts'
import { stellarConfig } from '../../support/stellar-scenario.ts'

const SECRET = '11'.repeat(32)
const WARNING = 'key shared by network types; use a separate signer for each network type'

let ledger: TestLedger
let solana: TestSolana

beforeAll(async () => {
  ledger = await startLedger({ closeEveryMs: 'manual' })
  solana = await startSolana({ slotMs: 'manual' })
}, 60_000)
afterAll(async () => {
  await ledger.stop()
  await solana.stop()
})

interface Started {
  readonly service: Service
  readonly warnings: object[]
}

/** A relayer on Stellar and one on Solana, with the same signer. */
async function startBoth(signer: object): Promise<Started> {
  const lines = new PassThrough()
  const onStellar = stellarConfig({ urls: [ledger.url], passphrase: ledger.passphrase })
  const onSolana = solanaConfig(solana)
  const idle = { signer_id: 'one', policies: { min_balance: 0 } }
  const service = await startService({
    rpcUrls: [],
    networks: [...(onStellar.networks ?? []), ...(onSolana.networks ?? [])],
    signers: [signer],
    relayers: [
      { ...onStellar.relayers?.[0], ...idle, id: 'stellar' },
      { ...onSolana.relayers?.[0], ...idle, id: 'solana' },
    ],
    log: createLogger({ level: 'warn' }, lines),
  })
  onTestFinished(service.stop)
  const logged = String(lines.read() ?? '').split('\n')
  const warnings = logged.filter((line) => line !== '').map((line) => JSON.parse(line))
  return { service, warnings: warnings.filter(({ msg }) => msg === WARNING) }
}

async function publicKeys({ api }: Service): Promise<string[]> {
  const { body } = await api<Schemas['Relayer'][]>('GET', '/relayers')
  return body.data.map(({ id, address = '' }) =>
    Buffer.from(
      id === 'stellar' ? StrKey.decodeEd25519PublicKey(address) : getBase58Encoder().encode(address),
    ).toString('hex'),
  )
}

async function newKeyFile(separate: boolean) {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-keys-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'key.json')
  const options = { passphrase: API_KEY, address: '0x', n: 2 ** 10, separate }
  await writeFile(path, await encryptKeystore(Buffer.from(SECRET, 'hex'), options))
  return { id: 'one', type: 'local', config: { path, passphrase: { type: 'plain', value: API_KEY } } }
}

describe('one signer for Stellar and Solana', () => {
  test.each([
    ['a key of the configuration', async () => plainSigner('one', SECRET)],
    ['a key file without the mark', () => newKeyFile(false)],
  ])('%s keeps its accounts, and the start warns', async (_what, signer) => {
    const { service, warnings } = await startBoth(await signer())
    expect(new Set(await publicKeys(service)).size).toBe(1)
    expect(warnings).toMatchObject([
      {
        level: 'warn',
        signers: ['one'],
        relayers: ['solana', 'stellar'],
        networkTypes: ['solana', 'stellar'],
      },
    ])
  })

  test('a new key file has two keys, and no warning is logged', async () => {
    const { service, warnings } = await startBoth(await newKeyFile(true))
    expect(new Set(await publicKeys(service)).size).toBe(2)
    expect(warnings).toEqual([])
  })

  test('signs no text on Solana that has the length of a hash', async () => {
    const { service } = await startBoth(plainSigner('one', SECRET))
    const sign = (message: string) => service.api('POST', '/relayers/solana/sign', { message })
    const refused = await sign('é'.repeat(16))
    expect({ status: refused.status, code: refused.body.code }).toEqual({
      status: 400,
      code: 'invalid_request',
    })
    expect(refused.body.error).toMatch(/^message: .*32 bytes/)
    expect((await sign('é'.repeat(17))).status).toBe(200)
    expect((await sign('x'.repeat(31))).status).toBe(200)
  })
})
