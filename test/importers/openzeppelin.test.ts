import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { OPENZEPPELIN_FILE, OPENZEPPELIN_RECORDS, SEALED, TYPED_SECRET } from './openzeppelin-records.ts'
import { loadPrinted, makeFolder, runImport } from './run-import.ts'

async function write(content: Record<string, string>): Promise<string> {
  const folder = await makeFolder()
  for (const [name, text] of Object.entries(content)) await writeFile(join(folder, name), text)
  return folder
}

const FILE = JSON.stringify(OPENZEPPELIN_FILE)
const LINES = OPENZEPPELIN_RECORDS.map(({ value }) => `${JSON.stringify(value)}\n`).join('')

async function importBoth() {
  const folder = await write({ 'old.json': FILE, 'records.jsonl': LINES })
  const records = join(folder, 'records.jsonl')
  const outcome = await runImport('import', 'openzeppelin', join(folder, 'old.json'), '--records', records)
  expect(outcome.code).toBe(0)
  return { folder, outcome }
}

test('a record of Redis counts where the file has another, and what callers created is there', async () => {
  const { folder, outcome } = await importBoth()
  // The code is what a person copies.
  await mkdir(join(folder, 'plugins/channels'), { recursive: true })
  await writeFile(join(folder, 'plugins/channels/index.ts'), 'export const handler = () => null\n')
  const { plugins, relayers, notifications, networks } = await loadPrinted(outcome, {
    folder,
    env: { KEYSTORE_PASSPHRASE: 'x' },
  })
  expect(plugins.map(({ id }) => id)).toEqual(['channels'])
  expect(relayers).toMatchObject([
    {
      id: 'sepolia-example',
      paused: true,
      notificationId: 'hooks',
      policies: { gasPriceCap: 340_282_366_920_938_463_463n, minBalance: 7n },
    },
    { id: 'sponsored', policies: { feePaymentStrategy: 'user' } },
    { id: 'treasury', signerId: 'treasury-kms', network: 'mainnet', policies: { eip1559Pricing: true } },
    { id: 'stars', networkType: 'stellar', policies: { maxFee: 1_000_000n } },
  ])
  expect(notifications).toMatchObject([
    { id: 'hooks', url: 'https://hooks-url.example/x' },
    { id: 'plain-hook', url: 'https://hook.example' },
  ])
  expect(networks.map(({ name }) => name)).toEqual(['sepolia', 'mainnet', 'testnet', 'devnet'])
  expect(networks.find(({ name }) => name === 'mainnet')).toMatchObject({
    chainId: 1,
    rpcUrls: [{ url: 'https://node.example', weight: 30 }, { url: urlOf(1) }, { url: urlOf(2) }],
  })
})

/** The value that the tests give to the variable of a URL. */
const urlOf = (n: number) => `https://mainnet-rpc-urls${n === 1 ? '' : `-${n}`}.example/x`

test('signers keep what is public, and refer to variables for every secret', async () => {
  const { outcome } = await importBoth()
  const { signers } = JSON.parse(outcome.out)
  expect(signers).toEqual([
    {
      id: 'local-signer',
      type: 'local',
      config: { path: 'config/keys/local.json', passphrase: { type: 'env', value: 'KEYSTORE_PASSPHRASE' } },
    },
    {
      id: 'plain-pass',
      type: 'local',
      config: { path: 'config/keys/other.json', passphrase: { type: 'env', value: 'PLAIN_PASS_PASSPHRASE' } },
    },
    { id: 'treasury-kms', type: 'aws_kms', config: { region: 'eu-central-1', key_id: 'alias/treasury' } },
    { id: 'made', type: 'plain', config: { key: { type: 'env', value: 'MADE_KEY' } } },
    {
      id: 'vaulted',
      type: 'vault_transit',
      config: {
        key_name: 'hot',
        address: 'https://vault.example',
        role_id: { type: 'env', value: 'VAULTED_ROLE_ID' },
        secret_id: { type: 'env', value: 'VAULTED_SECRET_ID' },
        pubkey: 'J9eBkyLhwMLBTLL0OGTpSEJfYSVF4BUkVmTEHDRmGSM=',
      },
    },
  ])
})

test('no secret is printed, encrypted or not', async () => {
  const { outcome } = await importBoth()
  const printed = `${outcome.out}\n${outcome.err}`
  for (const secret of [SEALED, TYPED_SECRET, 'hook-token', 'infura-key', 'second-key'])
    expect(printed).not.toContain(secret)
})

test('what is not supported is said', async () => {
  const { outcome } = await importBoth()
  for (const sentence of [
    'Add a price to each of allowed_tokens of relayer "sponsored"',
    'The relayer "night": networks of type midnight are not supported.',
    'Copy the code of the plugins ("channels") into the folder plugins beside the file',
    'API keys of /api-keys',
    'PLAIN_PASS_PASSPHRASE: passphrase of "plain-pass", which stands in the old file',
    'MADE_KEY: the private key of signer "made", which is encrypted in Redis',
  ])
    expect(outcome.err).toContain(sentence)
})

test('a folder of networks stays one when there are no records', async () => {
  const folder = await write({
    'old.json': JSON.stringify({ ...OPENZEPPELIN_FILE, networks: './config/networks' }),
  })
  const { out, err } = await runImport('import', 'openzeppelin', join(folder, 'old.json'))
  expect(JSON.parse(out).networks).toBe('./config/networks')
  expect(err).toContain('Copy the folder of networks, ./config/networks')
})

test.each<[string, Record<string, string>, string]>([
  ['without a file', {}, 'old.json cannot be read (ENOENT).'],
  ['of a file that is not JSON', { 'old.json': 'relayers: []' }, 'old.json is not JSON.'],
  ['of a broken record', { 'old.json': FILE, 'records.jsonl': '{}\n{"id"' }, 'Line 2 of '],
])('an import %s is refused', async (_what, content, sentence) => {
  const folder = await write(content)
  const records = 'records.jsonl' in content ? ['--records', join(folder, 'records.jsonl')] : []
  const { code, err } = await runImport('import', 'openzeppelin', join(folder, 'old.json'), ...records)
  expect(code).toBe(2)
  expect(err).toContain(sentence)
})
