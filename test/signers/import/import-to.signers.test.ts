import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  startAzure,
  TENANT,
  VAULT_HOST,
} from '../../../simulators/key-services/azure.ts'
import { EMAIL, startGoogleCloud } from '../../../simulators/key-services/google-cloud.ts'
import { APP_ROLE, NAMESPACE, startVault } from '../../../simulators/key-services/vault.ts'
import { solanaAddress, stellarAddress } from '../../../src/signers/ed25519.ts'
import { createKey, createSeparateKey } from '../../../src/signers/key.ts'
import { encryptKeystore } from '../../../src/signers/keystore.ts'
import { relayer } from '../../cli/spawn.ts'
import { anvilNetwork, ON_ANVIL } from '../../support/anvil.ts'
import { AWS_ENV, REGION, startAwsKms } from '../../support/key-services/aws-kms.ts'
import { rerouted } from '../../support/key-services/rerouted.ts'
import { API_KEY } from '../../support/service.ts'
import { ACCOUNTS, SECRET } from '../conformance/keys.ts'

const PASSPHRASE = 'a passphrase of the tests'
const SEPARATE = createSeparateKey('separate', Buffer.from(SECRET, 'hex'))
const OTHER = createKey('other', Buffer.from('11'.repeat(32), 'hex'))

const addressOf = {
  evm: ACCOUNTS.evm,
  stellar: stellarAddress(SEPARATE.stellar.publicKey),
  solana: solanaAddress(SEPARATE.solana.publicKey),
}
const plain = (value: string) => ({ type: 'plain', value })

/** A service that holds keys, started for a test, with the signer that names a key that it does not have yet. */
interface Vacancy {
  readonly signer: { readonly type: string; readonly config: object }
  readonly env?: Record<string, string>
  readonly stop: () => Promise<void>
}

const aws = async (
  spec: 'ECC_SECG_P256K1' | 'ECC_NIST_EDWARDS25519',
  secret = 'EXTERNAL',
): Promise<Vacancy> => {
  const kms = await startAwsKms([{ alias: 'alias/hot', spec, secret }])
  return {
    signer: { type: 'aws_kms', config: { region: REGION, key_id: 'alias/hot' } },
    env: { ...AWS_ENV, AWS_ENDPOINT_URL_KMS: kms.url },
    stop: kms.stop,
  }
}

const google = async (algorithm: string): Promise<Vacancy> => {
  const name = 'projects/payments/locations/global/keyRings/relayer/cryptoKeys/hot'
  const server = await startGoogleCloud({ secp256k1: {}, ed25519: {}, empty: { [name]: algorithm } })
  return {
    signer: {
      type: 'google_cloud_kms',
      config: {
        service_account: {
          project_id: 'payments',
          client_email: plain(EMAIL),
          private_key_id: plain(server.account.privateKeyId),
          private_key: plain(server.account.privateKey),
        },
        key: { key_ring_id: 'relayer', key_id: 'hot' },
      },
    },
    env: rerouted(['cloudkms.googleapis.com', 'oauth2.googleapis.com'], server.url),
    stop: server.stop,
  }
}

const azure = async (secrets: Record<string, string> = {}): Promise<Vacancy> => {
  const server = await startAzure(secrets)
  return {
    signer: {
      type: 'azure_key_vault',
      config: {
        tenant_id: TENANT,
        client_id: CLIENT_ID,
        client_secret: plain(CLIENT_SECRET),
        vault_url: `https://${VAULT_HOST}`,
        key_name: 'hot',
      },
    },
    env: rerouted([VAULT_HOST, 'login.microsoftonline.com'], server.url),
    stop: server.stop,
  }
}

const vault = async (type: 'vault' | 'vault_transit', config: object = {}): Promise<Vacancy> => {
  const server = await startVault({ secrets: {}, transit: {} })
  const login = { role_id: plain(APP_ROLE.role_id), secret_id: plain(APP_ROLE.secret_id) }
  const common = { address: server.url, namespace: NAMESPACE, key_name: 'hot', ...login }
  return { signer: { type, config: { ...common, ...config } }, stop: server.stop }
}

const pubkeyOf = (publicKey: Uint8Array) => ({ pubkey: Buffer.from(publicKey).toString('base64') })

let keyFile: string

beforeAll(async () => {
  const secret = Buffer.from(SECRET, 'hex')
  keyFile = await encryptKeystore(secret, {
    passphrase: PASSPHRASE,
    address: ACCOUNTS.evm,
    separate: true,
    n: 1024,
  })
})

/** A folder with the configuration, and the command in it. */
async function prepare(start: Promise<Vacancy>) {
  const { signer, env = {}, stop } = await start
  onTestFinished(stop)
  const cwd = await mkdtemp(join(tmpdir(), 'relayer-import-'))
  onTestFinished(() => rm(cwd, { recursive: true }))
  await mkdir(join(cwd, 'config/keys'), { recursive: true })
  await writeFile(join(cwd, 'config/keys/hot.json'), keyFile, { mode: 0o600 })
  await writeFile(join(cwd, 'config/keys/hot.passphrase'), PASSPHRASE, { mode: 0o600 })
  const file = { id: 'file', type: 'local', config: { path: 'keys/hot.json', passphrase: plain(PASSPHRASE) } }
  const config = {
    networks: [anvilNetwork(['http://127.0.0.1:9'])],
    notifications: [],
    signers: [file, { id: 'treasury', ...signer }],
    relayers: [{ id: 'main', name: 'Main', signer_id: 'file', ...ON_ANVIL }],
  }
  await writeFile(join(cwd, 'config/config.json'), JSON.stringify(config))
  return (networkType: string, signerId = 'treasury') =>
    relayer({
      cwd,
      args: ['keys', 'import-to', signerId, 'config/keys/hot.json', '--network-type', networkType],
      env: { API_KEY, ...env },
    })
}

describe('keys import-to', () => {
  const transit = (type: 'stellar' | 'solana') => vault('vault_transit', pubkeyOf(SEPARATE[type].publicKey))
  const cases: readonly (readonly [string, keyof typeof addressOf, () => Promise<Vacancy>])[] = [
    ['aws_kms', 'evm', () => aws('ECC_SECG_P256K1')],
    ['aws_kms', 'stellar', () => aws('ECC_NIST_EDWARDS25519')],
    ['google_cloud_kms', 'evm', () => google('EC_SIGN_SECP256K1_SHA256')],
    ['google_cloud_kms', 'solana', () => google('EC_SIGN_ED25519')],
    ['azure_key_vault', 'evm', () => azure()],
    ['vault_transit', 'stellar', () => transit('stellar')],
    ['vault', 'evm', () => vault('vault')],
    ['vault', 'solana', () => vault('vault')],
  ]

  test.each(cases)(
    'brings a key into %s (%s), which then signs for the same account',
    async (_type, networkType, start) => {
      const run = await prepare(start())
      const first = await run(networkType)
      expect(first).toMatchObject({ code: 0, err: '' })
      expect(first.out).toContain(`imported    ${addressOf[networkType]} in signer treasury`)
      const relayerId = networkType === 'evm' ? 'main' : '{id}'
      expect(first.out).toContain(`curl -X PATCH "$RELAYER_URL/api/v1/relayers/${relayerId}"`)
      expect(first.out).toContain(`-d '{"signer_id":"treasury"}'`)
      expect(first.out.toLowerCase()).not.toContain(SECRET)
    },
    120_000,
  )

  test('only asks for the proof when the key is there already', async () => {
    const run = await prepare(azure({ hot: SECRET }))
    const { code, out } = await run('evm')
    expect(code).toBe(0)
    expect(out).toContain(`was there   ${addressOf.evm}`)
  }, 60_000)

  const otherHex = '11'.repeat(32)
  const refusals: readonly (readonly [string, string, () => Promise<Vacancy>, number, RegExp])[] = [
    [
      'a key of AWS that has another private key',
      'evm',
      () => aws('ECC_SECG_P256K1', otherHex),
      1,
      /has another public key/,
    ],
    [
      'a key of AWS of the other curve',
      'evm',
      () => aws('ECC_NIST_EDWARDS25519'),
      1,
      /is of the specification ECC_NIST_EDWARDS25519, not ECC_SECG_P256K1\.$/,
    ],
    [
      'a key of Google of the other algorithm',
      'evm',
      () => google('EC_SIGN_ED25519'),
      1,
      /is of the algorithm EC_SIGN_ED25519, not EC_SIGN_SECP256K1_SHA256\.$/,
    ],
    ['a key of Azure that is another', 'evm', () => azure({ hot: otherHex }), 1, /has another public key/],
    [
      'a transit key with another pubkey in the configuration',
      'solana',
      () => vault('vault_transit', pubkeyOf(OTHER.solana.publicKey)),
      1,
      new RegExp(`"pubkey": "${pubkeyOf(SEPARATE.solana.publicKey).pubkey.replaceAll('+', '\\+')}"\\.$`),
    ],
    [
      'a transit key for EVM',
      'evm',
      () => transit('stellar'),
      2,
      /type vault_transit have no secp256k1 key, which accounts of type evm need/,
    ],
  ]

  test.each(refusals)(
    'refuses %s',
    async (_what, networkType, start, code, error) => {
      const run = await prepare(start())
      const answer = await run(networkType)
      expect(answer).toMatchObject({ code, out: '' })
      expect(answer.err.trimEnd()).toMatch(error)
      expect(answer.err.toLowerCase()).not.toContain(SECRET)
    },
    120_000,
  )

  test('says what to do with a signer that is none, and with one that takes no key', async () => {
    const run = await prepare(vault('vault'))
    expect((await run('evm', 'none')).err).toMatch(/has no signer "none"; it has file, treasury\./)
    expect((await run('evm', 'file')).err).toMatch(
      /Signers of the type local cannot be imported with this command; docs\/signers\.md \("Import an existing key"\)/,
    )
  }, 60_000)
})
