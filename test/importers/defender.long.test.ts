import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadPrinted, makeFolder, runImport } from './run-import.ts'

const RECEIVER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const OLD = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

const EXPORTED = {
  items: [
    {
      relayerId: '58b3d255-e357-4b0d-aa16-e86f745e63b9',
      name: 'Payouts EU',
      address: OLD,
      network: 'matic',
      paused: false,
      createdAt: '2023-01-01T00:00:00.000Z',
      pendingTxCost: '0',
      minBalance: '100000000000000000',
      policies: {
        gasPriceCap: '300000000000',
        whitelistReceivers: [RECEIVER],
        EIP1559Pricing: true,
        privateTransactions: false,
      },
    },
    {
      relayerId: 'two',
      name: 'Payouts EU',
      address: OLD,
      network: 'mainnet',
      paused: true,
      minBalance: 0,
      policies: { EIP1559Pricing: false, privateTransactions: 'flashbots-fast', whitelistReceivers: [] },
    },
    {
      relayerId: 'three',
      name: 'Game',
      address: OLD,
      network: 'x-dfk-avax-chain',
      minBalance: '1',
      policies: {},
    },
    { relayerId: 'four', name: 'Fork', address: OLD, network: 'our-fork', minBalance: '1', policies: {} },
    { relayerGroupId: 'five', name: 'Group', network: 'mainnet', policies: {} },
  ],
  txsQuotaUsage: 12,
}

async function exported(content: unknown): Promise<{ folder: string; file: string }> {
  const folder = await makeFolder()
  const file = join(folder, 'relayers.json')
  await writeFile(file, JSON.stringify(content))
  return { folder, file }
}

test('relayers of Defender become relayers with the same networks and policies, and new keys', async () => {
  const { folder, file } = await exported(EXPORTED)
  const outcome = await runImport('import', 'defender', file)
  expect(outcome.code).toBe(0)
  expect(outcome.err).toContain('Taken: 3 relayers, 3 signers, 0 notifications.')
  // The keys are made as the output says.
  for (const id of ['payouts-eu', 'payouts-eu-2', 'game']) {
    expect(outcome.err).toContain(`relayer keys create config/keys/${id}.json. It replaces ${OLD}`)
    expect((await runImport('keys', 'create', join(folder, `keys/${id}.json`))).code).toBe(0)
  }
  const { relayers, networks } = await loadPrinted(outcome, { folder })
  expect(relayers).toMatchObject([
    {
      id: 'payouts-eu',
      name: 'Payouts EU',
      network: 'polygon',
      paused: false,
      policies: {
        gasPriceCap: 300_000_000_000n,
        whitelistReceivers: [RECEIVER],
        warnBalance: 100_000_000_000_000_000n,
      },
    },
    {
      id: 'payouts-eu-2',
      network: 'mainnet',
      paused: true,
      policies: { eip1559Pricing: false, privateTransactions: true },
    },
    { id: 'game', network: 'x-dfk-avax-chain' },
  ])
  expect(relayers[1]?.policies).not.toHaveProperty('whitelistReceivers')
  expect(networks.find(({ name }) => name === 'mainnet')).toMatchObject({
    chainId: 1,
    features: ['eip1559'],
    rpcUrls: [{ url: 'https://rpc-url-mainnet.example/x' }],
    privateRpcUrls: [{ url: 'https://private-rpc-url-mainnet.example/x' }],
  })
  expect(networks.find(({ name }) => name === 'x-dfk-avax-chain')).toMatchObject({ chainId: 53_935 })
})

test('what cannot be taken is said, each with what to do', async () => {
  const { file } = await exported(EXPORTED)
  const { err } = await runImport('import', 'defender', file)
  for (const sentence of [
    'The relayer "Fork": its network "our-fork" is not one of Defender\'s public ones.',
    'The relayer group "Group": there are no groups here.',
    'The keys: Defender kept them in a KMS that exports none.',
    'Set a gas_price_cap for "payouts-eu-2"',
    'Complete the network "x-dfk-avax-chain"',
    'RPC_URL_POLYGON: the URL of a node of polygon (chain id 137)',
  ])
    expect(err).toContain(sentence)
})

test('check-config takes the file when the keys exist and the variables are set', async () => {
  const { folder, file } = await exported([EXPORTED.items[0]])
  const out = join(folder, 'config/config.json')
  const { code, out: printed, err } = await runImport('import', 'defender', file, '--out', out)
  expect({ code, printed }).toEqual({ code: 0, printed: '' })
  expect(err).toContain(`relayer keys create ${join(folder, 'config/keys/payouts-eu.json')}. It replaces`)
  await runImport('keys', 'create', join(folder, 'config/keys/payouts-eu.json'))
  const env = {
    CONFIG_DIR: join(folder, 'config'),
    API_KEY: 'k'.repeat(32),
    RPC_URL_POLYGON: 'https://polygon.example',
  }
  Object.assign(process.env, env)
  const checked = await runImport('check-config')
  for (const name of Object.keys(env)) delete process.env[name]
  expect(checked).toMatchObject({ code: 0, err: '' })
  expect(checked.out).toMatch(/relayer payouts-eu: 0x[0-9a-fA-F]{40} on polygon/)
  const again = await runImport('import', 'defender', file, '--out', out)
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining('never overwritten') })
})

test.each<[string, unknown]>([
  ['an empty list', []],
  ['something else', { hello: 'world' }],
])('%s has nothing to take', async (_what, content) => {
  const { file } = await exported(content)
  const { code, err } = await runImport('import', 'defender', file)
  expect({ code, err }).toEqual({ code: 2, err: 'There is no relayer and no signer that can be taken.' })
})
