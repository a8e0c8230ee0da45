import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { ConfigError, MissingConfigError } from '../../src/lib/fields.ts'
import { goodFile, load, problemsOf, SECRET } from './fixture.ts'

describe('a good configuration', () => {
  test('has the documented defaults', () => {
    const { networks, relayers, signers, notifications, file, database, ...settings } = load({
      file: goodFile(),
    })
    expect(settings).toEqual({
      mode: 'production',
      logLevel: 'info',
      server: {
        host: '0.0.0.0',
        port: 8080,
        maxConnections: 4096,
        maxConnectionsPerPeer: 0,
        trustedProxies: [],
        corsOrigins: [],
        console: true,
        requestTimeoutMs: 30_000,
        maxBodyBytes: 1_048_576,
      },
      apiKeys: [SECRET],
      plugins: [],
      rateLimit: { perSecond: 100, burst: 300 },
      rpcTimeoutMs: 10_000,
      keyServices: { timeoutMs: 3000, concurrency: 50 },
      maxInFlight: 16,
      shutdownMs: 25_000,
      shutdownGraceMs: 2_000,
      healthIntervalMs: 30_000,
      maxStreams: 100,
      eventRetentionMs: 30 * 86_400_000,
      webhooks: { timeoutMs: 10_000, retryMs: 86_400_000 },
      apiMayRelax: [],
      allowPrivateUrls: false,
    })
    expect(file).toMatch(/\/config\/config\.json$/)
    expect(database).toEqual({
      dataDir: expect.stringMatching(/\/data$/),
      durability: 'full',
      waitMs: 60_000,
    })
  })

  test('names the relayers whose policies callers may relax', () => {
    const [relayer] = goodFile().relayers
    const entries = (api_may_relax: unknown) => ({ ...goodFile(), relayers: [{ ...relayer, api_may_relax }] })
    expect(load({ file: entries(true) }).apiMayRelax).toEqual([relayer?.id])
    expect(load({ file: entries(false) }).apiMayRelax).toEqual([])
    expect(problemsOf({ file: entries('yes') })).toEqual(['relayers[0].api_may_relax must be true or false'])
  })

  test('takes every setting from the environment', () => {
    const config = load({
      file: goodFile(),
      env: {
        HOST: '127.0.0.1',
        APP_PORT: '0',
        DATABASE_URL: 'postgres://u:p@h/d',
        DATA_DIR: 'memory://',
        DURABILITY: 'relaxed',
        RELAYER_DATABASE_WAIT_SECONDS: '5',
        LOG_LEVEL: 'DEBUG',
        NODE_ENV: 'test',
        RATE_LIMIT_REQUESTS_PER_SECOND: '7',
        RATE_LIMIT_BURST_SIZE: '8',
        REQUEST_TIMEOUT_SECONDS: '9',
        MAX_CONNECTIONS: '10',
        RELAYER_MAX_CONNECTIONS_PER_PEER: '6',
        RELAYER_CORS_ORIGINS: 'https://app.example, http://127.0.0.1:3000',
        RELAYER_TRUSTED_PROXIES: '10.0.0.0/8, fd00::1',
        RPC_TIMEOUT_MS: '1100',
        RELAYER_MAX_BODY_BYTES: '2048',
        RELAYER_MAX_IN_FLIGHT: '13',
        RELAYER_SHUTDOWN_SECONDS: '14',
        RELAYER_MAX_STREAMS: '12',
        RELAYER_SHUTDOWN_GRACE_SECONDS: '3',
        RELAYER_HEALTH_INTERVAL_SECONDS: '15',
        RELAYER_ALLOW_PRIVATE_URLS: 'TRUE',
      },
    })
    expect(config).toMatchObject({
      mode: 'test',
      logLevel: 'debug',
      server: {
        host: '127.0.0.1',
        port: 0,
        maxConnections: 10,
        maxConnectionsPerPeer: 6,
        trustedProxies: ['10.0.0.0/8', 'fd00::1'],
        corsOrigins: ['https://app.example', 'http://127.0.0.1:3000'],
        requestTimeoutMs: 9000,
        maxBodyBytes: 2048,
      },
      rateLimit: { perSecond: 7, burst: 8 },
      database: { url: 'postgres://u:p@h/d', dataDir: 'memory://', durability: 'relaxed', waitMs: 5_000 },
      rpcTimeoutMs: 1100,
      keyServices: { timeoutMs: 3000, concurrency: 50 },
      maxInFlight: 13,
      shutdownMs: 14_000,
      maxStreams: 12,
      shutdownGraceMs: 3_000,
      healthIntervalMs: 15_000,
      allowPrivateUrls: true,
    })
  })

  test('takes urls of endpoints and webhooks from the environment and from files', () => {
    const file = goodFile()
    Object.assign((file.networks as object[])[0] ?? {}, {
      rpc_urls: [
        { type: 'env', value: 'RPC_URL' },
        { url: { type: 'file', value: 'rpc.txt' }, weight: 50 },
      ],
      private_rpc_urls: [{ type: 'env', value: 'PRIVATE_URL' }],
    })
    Object.assign(file.notifications[0] ?? {}, { url: { type: 'env', value: 'HOOK_URL' } })
    const { networks, notifications } = load({
      file,
      env: {
        RPC_URL: 'https://rpc.example/one',
        PRIVATE_URL: 'https://rpc.example/private',
        HOOK_URL: 'https://example.com/from-env',
      },
      files: { 'config/rpc.txt': 'https://rpc.example/two\n' },
    })
    expect(networks[0]).toMatchObject({
      rpcUrls: [
        { url: 'https://rpc.example/one', weight: 100 },
        { url: 'https://rpc.example/two', weight: 50 },
      ],
      privateRpcUrls: [{ url: 'https://rpc.example/private' }],
    })
    expect(notifications[0]?.url).toBe('https://example.com/from-env')
  })

  test('gives the lists in our words', () => {
    const { relayers, networks, notifications, signers } = load({ file: goodFile() })
    expect(relayers).toEqual([
      {
        id: 'local-1',
        name: 'Local',
        network: 'anvil',
        networkType: 'evm',
        signerId: 'dev',
        notificationId: 'ops',
        paused: false,
        policies: { gasPriceCap: 100_000_000_000n },
      },
    ])
    expect(networks).toEqual([
      {
        type: 'evm',
        name: 'anvil',
        chainId: 31337,
        symbol: 'ETH',
        txFeeCap: 10n ** 18n,
        isTestnet: true,
        features: ['eip1559'],
        mempool: true,
        averageBlocktimeMs: 1000,
        requiredConfirmations: 1,
        finality: 'depth',
        rpcUrls: [{ url: 'http://127.0.0.1:8545', weight: 100 }],
      },
    ])
    expect(notifications[0]).toMatchObject({ id: 'ops', type: 'webhook', url: 'https://example.com/hook' })
    expect(notifications[0]?.signingKey?.reveal()).toBe(SECRET)
    expect(signers[0]).toMatchObject({
      id: 'dev',
      type: 'local',
      path: expect.stringMatching(/config\/keys\/dev\.json$/),
    })
  })

  test.each([
    [undefined, undefined],
    [null, undefined],
    [[], []],
    [['0xABCDEF0000000000000000000000000000000001'], ['0xabcdef0000000000000000000000000000000001']],
  ])('with receivers %j allows %j', (given, expected) => {
    const file = goodFile()
    Object.assign(file.relayers[0] ?? {}, { policies: { whitelist_receivers: given } })
    expect(load({ file }).relayers[0]?.policies).toEqual(expected ? { whitelistReceivers: expected } : {})
  })

  test('is frozen to the bottom', () => {
    const config = load({ file: goodFile() })
    expect(() => Object.assign(config.server, { port: 1 })).toThrow(TypeError)
    expect(() => Object.assign(config.relayers[0]?.policies ?? {}, { minBalance: 1n })).toThrow(TypeError)
  })

  test('does not print the secrets of its lists', () => {
    const { signers, notifications } = load({ file: goodFile() })
    const printed = `${inspect({ signers, notifications }, { depth: null, showHidden: true })}${JSON.stringify({ signers, notifications })}${signers.map((signer) => ('passphrase' in signer ? signer.passphrase : 'key' in signer && signer.key))}`
    expect(printed).not.toContain(SECRET)
    expect(printed).toContain('[secret]')
  })
})

describe('a file of an existing deployment', () => {
  test('keeps amounts exact as numbers and as texts', () => {
    const most = (2n ** 128n - 1n).toString()
    const text = JSON.stringify(goodFile()).replace(
      '"policies":{"gas_price_cap":100000000000}',
      `"policies":{"gas_price_cap":${most},"min_balance":"1000000000000000001","include_revert_data":true}`,
    )
    const { relayers } = load({ file: text })
    expect(relayers[0]?.policies).toEqual({
      gasPriceCap: 2n ** 128n - 1n,
      minBalance: 1_000_000_000_000_000_001n,
    })
  })

  test('reads networks of all kinds from a folder, with parents', () => {
    const parent = {
      type: 'evm',
      network: 'base',
      chain_id: 1,
      symbol: 'ETH',
      features: ['eip1559'],
      rpc_urls: ['https://a/key'],
      tags: ['x'],
      max_gas_per_transaction: 1_000_000,
    }
    const child = {
      type: 'evm',
      network: 'anvil',
      from: 'base',
      chain_id: 2,
      is_testnet: true,
      rpc_urls: [{ url: 'https://b', weight: 5 }, { url: 'https://c' }, 'wss://d/key'],
    }
    const other = { type: 'solana', network: 'mine', rpc_urls: ['https://s'], is_testnet: true, tags: [] }
    const { networks } = load({
      file: { ...goodFile(), networks: './config/networks' },
      files: {
        'config/networks/a.json': JSON.stringify({ networks: [child, other] }),
        'config/networks/b.json': JSON.stringify({ networks: [parent] }),
        'config/networks/readme.txt': 'not read',
      },
    })
    expect(networks).toMatchObject([
      { name: 'anvil', chainId: 2, requiredConfirmations: 1, maxGasPerTransaction: 1_000_000n },
      { type: 'solana', name: 'mine', averageBlocktimeMs: 400, requiredConfirmations: 0 },
      { name: 'base', chainId: 1, requiredConfirmations: 12 },
    ])
    expect(networks[0]).toMatchObject({
      symbol: 'ETH',
      features: ['eip1559'],
      rpcUrls: [
        { url: 'https://b', weight: 5 },
        { url: 'https://c', weight: 100 },
        { url: 'wss://d/key', weight: 100 },
      ],
    })
  })

  test('may write paths from the working directory', () => {
    const file = goodFile()
    Object.assign(file.signers[0] ?? {}, {
      config: { path: 'config/keys/dev.json', passphrase: { type: 'plain', value: 'x' } },
    })
    const { signers } = load({ file, files: { 'config/keys/dev.json': '' } })
    expect(signers[0]).toMatchObject({ path: expect.stringMatching(/[^/]\/config\/keys\/dev\.json$/) })
    expect(JSON.stringify(signers)).not.toContain('config/config')
  })
})

describe('variables', () => {
  test('with our prefix are known when the file refers to them', () => {
    const file = goodFile()
    Object.assign(file.signers[0] ?? {}, {
      type: 'plain',
      config: { key: { type: 'env', value: 'RELAYER_KEY' } },
    })
    const { signers } = load({ file, env: { RELAYER_KEY: 'abc' } })
    expect(signers[0]?.type === 'plain' && signers[0].key.reveal()).toBe('abc')
  })

  test('stand in .env beside the file, and the environment wins', () => {
    const env = { API_KEY: undefined, APP_PORT: '1234' }
    const files = { 'config/.env': `API_KEY=${'k'.repeat(32)}\nAPP_PORT=1\n` }
    expect(load({ file: goodFile(), env, files })).toMatchObject({
      apiKeys: ['k'.repeat(32)],
      server: { port: 1234 },
    })
  })

  test('two API keys are accepted while one takes the place of the other', () => {
    const env = { API_KEY: 'n'.repeat(32), API_KEY_PREVIOUS: 'o'.repeat(32) }
    expect(load({ file: goodFile(), env }).apiKeys).toEqual(['n'.repeat(32), 'o'.repeat(32)])
  })

  test('other fields of a signer may be references, too, and are checked like the field', () => {
    const file = goodFile()
    const reference = { type: 'env', value: 'TENANT' }
    const secret = { type: 'plain', value: SECRET }
    Object.assign(file.signers[0] ?? {}, {
      type: 'azure_key_vault',
      config: {
        tenant_id: reference,
        client_id: { type: 'plain', value: 'client' },
        client_secret: secret,
        vault_url: 'https://payments.vault.azure.net',
        key_name: 'relayer',
      },
    })
    const { signers } = load({ file, env: { TENANT: 'tenant-1' } })
    expect(signers).toMatchObject([{ login: { tenantId: 'tenant-1', clientId: 'client' } }])
    expect(() => load({ file, env: { TENANT: 'a/b' } })).toThrow(
      'signers[0].config.tenant_id must refer to 1 to 127 letters',
    )
    expect(() => load({ file })).toThrow('refers to the environment variable TENANT, which is not set')
  })

  test('a secret may be the first line of a file', () => {
    const file = goodFile()
    Object.assign(file.signers[0] ?? {}, {
      config: { path: 'keys/dev.json', passphrase: { type: 'file', value: 'keys/pass' } },
    })
    const { signers } = load({ file, files: { 'config/keys/pass': 'first\nsecond\n' } })
    expect(signers[0]?.type === 'local' && signers[0].passphrase.reveal()).toBe('first')
  })
})

test('a file that is not there is told apart from a bad one', () => {
  expect(() => loadConfig({}, '/nowhere')).toThrow(MissingConfigError)
})

test('the example in the repository is fine', () => {
  const cwd = join(import.meta.dirname, '../../examples')
  const env = { API_KEY: SECRET, RELAYER_DEV_KEY: 'k', WEBHOOK_SIGNING_KEY: SECRET }
  // Everything but the passphrase, which no repository contains.
  expect(() => loadConfig(env, cwd)).toThrow(
    new ConfigError(['signers[0].config.passphrase refers to a file that cannot be read (ENOENT)']),
  )
})
