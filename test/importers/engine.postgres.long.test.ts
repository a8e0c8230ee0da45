import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { encryptKeystoreJson } from 'ethers'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { decryptKeystore } from '../../src/signers/keystore.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { loadPrinted, makeFolder, runImport } from './run-import.ts'

const LOCAL = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const KMS = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const GOOGLE = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'
const SMART = '0x90f79bf6eb2c4f870365e785982e1f101e93b906'
const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const PASSWORD = 'the password of engine'
const ARN = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
const RESOURCE = 'projects/pay/locations/europe/keyRings/ring/cryptoKeys/hot/cryptoKeyVersions/3'

/** The tables of Engine's public schema, `src/prisma/schema.prisma`, as its migrations make them. */
const TABLES = `
  create table configuration (id text primary key, "chainOverrides" text, "maxFeePerGasForRetries" text not null,
    "awsSecretAccessKey" text, "minWalletBalance" text not null, "webhookUrl" text);
  create table wallet_details (address text primary key, type text not null, label text, "encryptedJson" text,
    "awsKmsArn" text, "awsKmsSecretAccessKey" text, "awsKmsAccessKeyId" text, "gcpKmsResourcePath" text,
    "gcpApplicationCredentialEmail" text, "gcpApplicationCredentialPrivateKey" text, "accountSignerAddress" text);
  create table wallet_nonce (address text, "chainId" text, nonce integer not null, primary key (address, "chainId"));
  create table webhooks (id serial primary key, name text, url text not null, secret text not null,
    "evenType" text not null, "revokedAt" timestamp);
  create table relayers (id text primary key, name text, "chainId" text not null, "backendWalletAddress" text not null,
    "allowedContracts" text, "allowedForwarders" text);
  create table tokens (id text primary key, "tokenMask" text not null);
`

let server: PostgresServer
let url: string

beforeAll(async () => {
  server = await startPostgres()
  url = await server.createDatabase()
  await fill(url)
})
afterAll(() => server.stop())

async function fill(database: string): Promise<void> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  const insert = (table: string, row: Record<string, unknown>) =>
    client.query(
      `insert into ${table} (${Object.keys(row).map((name) => `"${name}"`)}) values (${Object.keys(row).map((_, index) => `$${index + 1}`)})`,
      Object.values(row),
    )
  await client.query(TABLES)
  await insert('configuration', {
    id: 'default',
    chainOverrides: JSON.stringify([
      {
        chainId: 777,
        name: 'Our Chain',
        slug: 'our-chain',
        rpc: ['https://node/secret'],
        nativeCurrency: { symbol: 'OUR' },
      },
    ]),
    maxFeePerGasForRetries: '55000000000',
    awsSecretAccessKey: 'encrypted-secret',
    minWalletBalance: '20000000000000000',
  })
  const data = await encryptKeystoreJson({ address: LOCAL, privateKey: KEY }, PASSWORD, {
    scrypt: { N: 1024 },
  })
  const encryptedJson = JSON.stringify({ data, address: LOCAL, type: 'encryptedJson' })
  await insert('wallet_details', { address: LOCAL, type: 'local', label: 'Hot wallet', encryptedJson })
  await insert('wallet_details', {
    address: KMS,
    type: 'aws-kms',
    awsKmsArn: ARN,
    awsKmsAccessKeyId: 'AKIA1',
    awsKmsSecretAccessKey: 'encrypted-secret',
  })
  await insert('wallet_details', {
    address: GOOGLE,
    type: 'gcp-kms',
    gcpKmsResourcePath: RESOURCE,
    gcpApplicationCredentialEmail: 'engine@pay.example',
    gcpApplicationCredentialPrivateKey: 'encrypted-secret',
  })
  await insert('wallet_details', { address: SMART, type: 'smart:local', accountSignerAddress: LOCAL })
  await insert('wallet_nonce', { address: LOCAL, chainId: '137', nonce: 4 })
  await insert('wallet_nonce', { address: KMS, chainId: '777', nonce: 1 })
  await insert('relayers', { id: 'r1', name: 'Forwarder', chainId: '1', backendWalletAddress: LOCAL })
  const hook = 'https://hooks.example/token'
  await insert('webhooks', { name: 'All', url: hook, secret: 'hook-secret', evenType: 'all_transactions' })
  await insert('webhooks', {
    name: 'Balance',
    url: hook,
    secret: 'hook-secret',
    evenType: 'backend_wallet_balance',
  })
  await insert('webhooks', { url: hook, secret: 's', evenType: 'mined_transaction', revokedAt: new Date() })
  await insert('tokens', { id: 't1', tokenMask: 'ab…' })
  await client.end()
}

function withEngine(database: string): void {
  process.env.POSTGRES_CONNECTION_URL = database
  onTestFinished(() => void delete process.env.POSTGRES_CONNECTION_URL)
}

test('wallets, the chains that they send on, and webhooks become a configuration that opens the same accounts', async () => {
  withEngine(`${url}?schema=public`)
  const folder = await makeFolder()
  const out = join(folder, 'config/config.json')
  const { code, err } = await runImport('import', 'engine-v2', '--out', out)
  expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining(`Written to ${out}.`) })
  const text = await readFile(out, 'utf8')
  const { relayers, signers, networks, notifications } = await loadPrinted(
    { code, out: text, err },
    { folder: join(folder, 'config'), env: { ENCRYPTION_PASSWORD: PASSWORD } },
  )
  expect(relayers.map(({ id, network, signerId }) => [id, network, signerId])).toEqual([
    ['mainnet-hot-wallet', 'mainnet', LOCAL],
    ['polygon-hot-wallet', 'polygon', LOCAL],
    [`our-chain-${KMS}`, 'our-chain', KMS],
  ])
  expect(relayers[0]).toMatchObject({
    notificationId: 'all',
    policies: { warnBalance: 20_000_000_000_000_000n },
  })
  expect(signers).toMatchObject([
    { id: LOCAL, type: 'local', path: join(folder, `config/keys/${LOCAL}.json`) },
    { id: KMS, type: 'aws_kms', region: 'eu-central-1', keyId: ARN },
    { id: GOOGLE, type: 'google_cloud_kms', key: { projectId: 'pay', keyId: 'hot', keyVersion: 3 } },
  ])
  expect(networks.find(({ name }) => name === 'our-chain')).toMatchObject({ chainId: 777, symbol: 'OUR' })
  expect(notifications).toMatchObject([{ id: 'all' }])

  const keyFile = join(folder, `config/keys/${LOCAL}.json`)
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600)
  const secret = await decryptKeystore(await readFile(keyFile, 'utf8'), PASSWORD)
  expect(`0x${Buffer.from(secret).toString('hex')}`).toBe(KEY)
})

test('what cannot be taken is said, and no secret is printed', async () => {
  withEngine(url)
  const { out, err } = await runImport('import', 'engine-v2')
  for (const sentence of [
    `The wallet ${SMART} of type smart:local: smart accounts (ERC-4337) are not included.`,
    'The relayer "Forwarder" of Engine for meta-transactions: list its forwarders in the plugin gasless (docs/gasless.md).',
    'Let Engine finish before this service starts',
    'WEBHOOK_SIGNING_KEY_ALL: a new secret of at least 32 characters',
    'The webhook "Balance" for backend_wallet_balance',
    '1 access tokens: create API keys',
    `Name the chains of wallet ${GOOGLE}`,
    'Repeat the command with --out to get 1 encrypted key file',
    'Give the service the AWS credentials of Engine, which this wallet has for itself',
    'ENCRYPTION_PASSWORD: the ENCRYPTION_PASSWORD of Engine',
    'GCP_PRIVATE_KEY: "private_key" in the key file of the service account engine@pay.example at Google',
  ])
    expect(err).toContain(sentence)
  for (const secret of [
    'encrypted-secret',
    'hook-secret',
    'hooks.example/token',
    'node/secret',
    'ciphertext',
  ])
    expect(`${out}${err}`).not.toContain(secret)
})

test('every wallet gets a relayer on the chains that are named', async () => {
  withEngine(url)
  const { out } = await runImport('import', 'engine-v2', '--chains', '137, 8453')
  const { relayers } = JSON.parse(out)
  const pairs = relayers.map(({ signer_id, network }: Record<string, string>) => `${signer_id} ${network}`)
  expect(pairs.filter((pair: string) => pair.startsWith(GOOGLE))).toEqual([
    `${GOOGLE} polygon`,
    `${GOOGLE} base`,
  ])
  expect(new Set(pairs).size).toBe(pairs.length)
})

test('the right to read is enough, so nothing is written to the database of Engine', async () => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const role = `reader_${crypto.randomUUID().replaceAll('-', '')}`
  await client.query(
    `create role ${role} login password 'reads'; grant select on all tables in schema public to ${role}`,
  )
  onTestFinished(async () => {
    await client.query(`drop owned by ${role}; drop role ${role}`)
    await client.end()
  })
  const reading = new URL(url)
  Object.assign(reading, { username: role, password: 'reads' })
  withEngine(reading.href)
  expect(await runImport('import', 'engine-v2')).toMatchObject({ code: 0 })
})

test('a database without its tables, and none at all, are each a sentence', async () => {
  withEngine(await server.createDatabase())
  expect(await runImport('import', 'engine-v2')).toMatchObject({
    code: 2,
    err: expect.stringContaining('There is no relayer and no signer that can be taken.'),
  })
  withEngine('postgres://nobody:hidden@127.0.0.1:9/engine')
  const { code, err } = await runImport('import', 'engine-v2')
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('cannot be opened: ') })
  expect(err).not.toContain('hidden')
  withEngine('')
  expect(await runImport('import', 'engine-v2')).toMatchObject({
    code: 2,
    err: expect.stringContaining('POSTGRES_CONNECTION_URL must be the postgres:// url'),
  })
})
