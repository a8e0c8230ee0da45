import { describe, expect, test } from 'vitest'
import { goodFile, load, problemsOf, SECRET } from './fixture.ts'

/** A signer of OpenZeppelin Relayer's documentation, with the fields that are `{ "type": "plain" | "env", "value" }` there. */
interface Shape {
  readonly type: string
  /** The fields that are texts. */
  readonly texts: Record<string, unknown>
  /** The others, by their paths, each with a value that is right. */
  readonly values: Readonly<Record<string, string>>
}

const AZURE = { vault_url: 'https://payments.vault.azure.net', key_name: 'hot', key_version: null }
const VAULT = { address: 'https://vault.example:8200', key_name: 'hot', mount_point: null, namespace: null }

const SHAPES: readonly Shape[] = [
  { type: 'local', texts: { path: 'keys/hot.json' }, values: { passphrase: SECRET } },
  {
    type: 'azure_key_vault',
    texts: { ...AZURE, auth_type: 'client_secret' },
    values: { tenant_id: 'tenant-1', client_id: 'client-1', client_secret: SECRET },
  },
  {
    type: 'azure_key_vault',
    texts: { ...AZURE, auth_type: 'managed_identity' },
    values: { client_id: 'client-1' },
  },
  {
    type: 'azure_key_vault',
    texts: { ...AZURE, auth_type: 'workload_identity' },
    values: { tenant_id: 'tenant-1', client_id: 'client-1', federated_token_file: '/var/run/token' },
  },
  {
    type: 'google_cloud_kms',
    texts: {
      service_account: { project_id: 'payments', client_id: '1' },
      key: { location: 'global', key_ring_id: 'ring', key_id: 'hot', key_version: 1 },
    },
    values: {
      'service_account.private_key_id': SECRET,
      'service_account.private_key': SECRET,
      'service_account.client_email': 'relayer@payments.example',
    },
  },
  {
    type: 'turnkey',
    texts: {
      api_public_key: '026b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
      organization_id: 'organization',
      private_key_id: 'key',
      public_key: '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    },
    values: { api_private_key: SECRET },
  },
  {
    type: 'cdp',
    texts: { api_key_id: 'key', account_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
    values: { api_key_secret: SECRET, wallet_secret: SECRET },
  },
  { type: 'vault', texts: VAULT, values: { role_id: 'role', secret_id: SECRET } },
  {
    type: 'vault_transit',
    texts: { ...VAULT, pubkey: 'J9eBkyLhwMLBTLL0OGTpSEJfYSVF4BUkVmTEHDRmGSM=' },
    values: { role_id: 'role', secret_id: SECRET },
  },
]

type Write = (path: string, value: string) => object

/** The environment that `asVariables` refers to. */
function variablesOf({ values }: Shape): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([path, value]) => [nameOf(path), value]))
}

const nameOf = (path: string) => `OZ_${path.toUpperCase().replaceAll('.', '_')}`
const asVariable: Write = (path) => ({ type: 'env', value: nameOf(path) })
const asPlain: Write = (_path, value) => ({ type: 'plain', value })

function fileWith({ type, texts, values }: Shape, write: Write) {
  const config = structuredClone(texts)
  for (const [path, value] of Object.entries(values)) {
    const [field = '', inner] = path.split('.')
    const target = inner === undefined ? config : (config[field] as Record<string, unknown>)
    target[inner ?? field] = write(path, value)
  }
  return { ...goodFile(), signers: [{ id: 'dev', type, config }] }
}

/** Without the folder of one load. */
const shown = (signers: object) => JSON.stringify(signers).replaceAll(/relayer-config-\w+/g, '')

describe.each(SHAPES)('the fields of $type with $values', (shape) => {
  test('may be plain', () => {
    expect(problemsOf({ file: fileWith(shape, asPlain) })).toEqual([])
  })

  test('may be variables, and mean the same', () => {
    const { signers } = load({ file: fileWith(shape, asVariable), env: variablesOf(shape) })
    const plain = load({ file: fileWith(shape, asPlain) })
    expect(shown(signers)).toBe(shown(plain.signers))
  })

  test('are each named when the variable is not set', () => {
    const problems = problemsOf({ file: fileWith(shape, asVariable) })
    expect(problems).toEqual(
      Object.keys(shape.values).map((path) => expect.stringContaining(`config.${path} refers to`)),
    )
  })
})

test('the urls of nodes and explorers may be variables, beside plain ones', () => {
  const file = goodFile()
  const [anvil] = file.networks as Record<string, unknown>[]
  Object.assign(anvil ?? {}, {
    rpc_urls: [{ type: 'env', value: 'NODE_URL' }, 'https://rpc.example'],
    explorer_urls: [{ type: 'env', value: 'EXPLORER_URL' }, 'https://explorer.example'],
  })
  const env = { NODE_URL: 'https://node.example/key', EXPLORER_URL: 'https://explorer.example/key' }
  expect(load({ file, env }).networks).toMatchObject([
    {
      rpcUrls: [{ url: env.NODE_URL }, { url: 'https://rpc.example' }],
      explorerUrls: [env.EXPLORER_URL, 'https://explorer.example'],
    },
  ])
})

describe('policies about fees in tokens, in the shape of existing files', () => {
  const onSolana = {
    fee_payment_strategy: 'user',
    fee_margin_percentage: 0.5,
    min_balance: 0,
    allowed_tokens: [
      {
        mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
        max_allowed_fee: 100_000_000,
        swap_config: { slippage_percentage: 0.5, min_amount: 0, max_amount: null, retain_min_amount: 1 },
      },
      { mint: 'So11111111111111111111111111111111111111112', decimals: 9, symbol: 'SOL' },
    ],
    swap_config: {
      strategy: 'jupiter-swap',
      cron_schedule: '0 0 * * * *',
      min_balance_threshold: 1_000,
      jupiter_swap_options: {
        priority_level: 'high',
        priority_fee_max_lamports: 1_000,
        dynamic_compute_unit_limit: true,
      },
    },
  }
  const onStellar = {
    fee_payment_strategy: 'user',
    slippage_percentage: 1,
    fee_margin_percentage: 10,
    allowed_tokens: [
      {
        asset: 'USDC:GBBD47IF6LWK7P7MDEVSCWR7DPUWV3NY3DTQEVFL4NAT4AQH3ZLLFLA5',
        max_allowed_fee: 1_000_000,
        metadata: { kind: 'classic', decimals: 7 },
        swap_config: { slippage_percentage: 1, min_amount: 1, max_amount: 10, retain_min_amount: 1 },
      },
      { asset: 'CBIELTK6YBZJU5UP2WWQEUCYKLPU6AUNZ2BQ4WWFEIE3USCIHMXQDAMA' },
      { asset: 'XLM' },
    ],
    swap_config: {
      strategies: ['order-book', 'soroswap'],
      cron_schedule: '0 0 * * * *',
      min_balance_threshold: 1,
    },
  }

  test.each([
    ['solana', 'devnet', onSolana],
    ['stellar', 'testnet', onStellar],
  ])('load on %s', (type, network, policies) => {
    const file = goodFile()
    const signer = { id: 'ed', type: 'plain', config: { key: { type: 'plain', value: '11'.repeat(32) } } }
    const relayer = { id: 'sponsor', name: 'Sponsor', network, network_type: type, signer_id: 'ed', policies }
    const loaded = load({
      file: { ...file, signers: [...file.signers, signer], relayers: [...file.relayers, relayer] },
    })
    const read = loaded.relayers.find(({ id }) => id === 'sponsor')?.policies
    expect(read).toMatchObject({
      feePaymentStrategy: 'user',
      allowedTokens: policies.allowed_tokens.map((token) =>
        'asset' in token && token.asset === 'XLM'
          ? { asset: 'native' }
          : 'mint' in token
            ? { mint: token.mint }
            : { asset: token.asset },
      ),
    })
  })
})
