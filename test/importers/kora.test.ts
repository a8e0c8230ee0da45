import { generateKeyPairSync } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { asEntry } from '../../importers/draft.ts'
import { leavesOf, rowNameOf } from '../../importers/kora.ts'
import { KORA_KEYS } from '../../importers/kora-keys.ts'
import * as names from '../../importers/kora-names.ts'
import { METHODS, readSettings } from '../../plugins/kora/config.ts'
import { ACCOUNT_EXTENSIONS, MINT_EXTENSIONS } from '../../plugins/kora/transactions/rules.ts'
import { loadPrinted, makeFolder, runImport } from './run-import.ts'

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const PAYEE = 'HtrAcuM8VxTdY2ez4FLKEkEUUx2KwQDypWpTrZ8pNKbH'
const API_KEY = 'a-key-of-the-paymaster-0123456789'

/** Every key that Kora 2.2 and the versions before it read, with a value that says something. */
const EVERY_KEY = `
[kora]
rate_limit = 100
global_rate_limit = 1000
max_request_body_size = 2097152
sign_timeout_seconds = 30
sign_max_retries = 3
force_sig_verify = true
payment_address = "${PAYEE}"
cors_allow_origins = ["https://wallet.example"]

[kora.auth]
api_key = "${API_KEY}"
api_keys = ["a-further-key-of-the-api-1"]
hmac_secret = "a-secret-of-hmac-0123456789-0123456789"
max_timestamp_age = 120
recaptcha_secret = "a-secret-of-recaptcha"
recaptcha_score_threshold = 0.5
protected_methods = ["sign_transaction", "signBundle"]

[kora.cache]
enabled = true
url = "redis://:secret@localhost:6379"
default_ttl = 300
account_ttl = 60

[kora.usage_limit]
enabled = true
cache_url = "redis://redis:6379"
max_transactions = 5
fallback_if_unavailable = true

[[kora.usage_limit.rules]]
type = "transaction"
max = 4
window_seconds = 30

[[kora.usage_limit.rules]]
type = "transaction"
max = 100
window_seconds = 86400

[[kora.usage_limit.rules]]
type = "transaction"
max = 1000

[[kora.usage_limit.rules]]
type = "instruction"
program = "11111111111111111111111111111111"
instruction = "CreateAccount"
max = 3
window_seconds = 3600

[[kora.usage_limit.rules]]
type = "instruction"
program = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"
instruction = "Create"
max = 2
window_seconds = 7200

[kora.enabled_methods]
liveness = true
estimate_transaction_fee = true
estimate_bundle_fee = false
get_supported_tokens = true
get_payer_signer = true
sign_transaction = false
sign_transaction_if_paid = true
sign_and_send_transaction = true
sign_bundle = true
sign_and_send_bundle = true
transfer_transaction = false
get_blockhash = true
get_config = true
get_version = true

[kora.bundle]
enabled = true

[kora.bundle.jito]
block_engine_url = "https://mainnet.block-engine.example"
simulate_bundle_url = "https://mainnet.rpc.example"

[kora.lighthouse]
enabled = true
fail_if_transaction_size_overflow = true

[kora.plugins]
enabled = ["gas_swap"]

[validation]
max_allowed_lamports = 1000000
max_priority_fee_lamports = 50000
max_signatures = 10
price_source = { type = "Jupiter", api_url = "https://prices.example" }
max_price_staleness_slots = 75
allowed_transaction_versions = [0, 1]
cross_cluster_check = true
cross_cluster_endpoints = ["https://devnet.example"]
allow_durable_transactions = true
allow_any_spl_paid_token = false
allowed_programs = ["11111111111111111111111111111111", "${TOKEN_PROGRAM}"]
require_one_of_programs = ["${TOKEN_PROGRAM}"]
allowed_tokens = ["${USDC}"]
allowed_spl_paid_tokens = ["${USDC}"]
disallowed_accounts = ["hndXZGK45hCxfBYvxejAXzCfCujoqkNf7rk4sTB8pek"]

[validation.price]
type = "fixed"
margin = 0.125
amount = 1000
token = "${USDC}"
strict = true

[validation.token_2022]
transfer_hook_policy = "deny_all"
reject_unknown_extensions = true
blocked_mint_extensions = ["pausable", "nothing"]
blocked_account_extensions = ["memo_transfer"]
allow_token_metadata_instructions = true

[validation.fee_payer_policy.system]
allow_transfer = true
allow_assign = false
allow_create_account = true
create_account_only_via = ["${TOKEN_PROGRAM}"]

[validation.fee_payer_policy.system.nonce]
allow_withdraw = true

[validation.fee_payer_policy.spl_token]
allow_burn = true

[validation.fee_payer_policy.token_2022]
allow_burn = false

[metrics]
enabled = true
endpoint = "/metrics"
port = 8080
scrape_interval = 60

[metrics.fee_payer_balance]
enabled = true
expiry_seconds = 30
`

const SIGNERS = `
[signer_pool]
strategy = "weighted"

[[signers]]
name = "hosted"
type = "privy"
app_id_env = "PRIVY_APP_ID"
app_secret_env = "PRIVY_APP_SECRET"
wallet_id_env = "PRIVY_WALLET_ID"

[[signers]]
name = "main"
type = "memory"
private_key_env = "SIGNER_1_PRIVATE_KEY"
weight = 3

[[signers]]
name = "spare"
type = "memory"
private_key_env = "SIGNER_2_PRIVATE_KEY"
`

async function files(config: string, signers = SIGNERS) {
  const folder = await makeFolder()
  const [file, signersFile] = [join(folder, 'kora.toml'), join(folder, 'signers.toml')]
  await writeFile(file, config)
  await writeFile(signersFile, signers)
  return { folder, args: ['import', 'kora', file, '--signers', signersFile] }
}

/** A key pair of Solana that is used nowhere. */
const KEY_PAIR =
  '[174,47,154,16,202,193,206,113,199,190,53,133,169,175,31,56,222,53,138,189,224,216,117,173,10,149,53,45,73,251,237,246,15,185,186,82,177,240,148,69,241,227,167,80,141,89,240,121,121,35,172,247,68,251,226,218,48,63,176,109,168,89,238,135]'

function anotherKeyPair(): string {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  return JSON.stringify([...Buffer.from(d, 'base64url'), ...Buffer.from(x, 'base64url')])
}

test('the files become relayers, their signers and the plugin, which the service reads without a problem', async () => {
  const { folder, args } = await files(EVERY_KEY)
  const outcome = await runImport(...args)
  expect(outcome.code).toBe(0)
  const written = JSON.parse(outcome.out) as { plugins: [Record<string, unknown>] }
  const policies = {
    fee_payment_strategy: 'relayer',
    fee_payer_spending: 'token_accounts',
    max_allowed_fee_lamports: 1_000_000,
    max_signatures: 10,
    allowed_programs: ['11111111111111111111111111111111', TOKEN_PROGRAM],
    disallowed_accounts: ['hndXZGK45hCxfBYvxejAXzCfCujoqkNf7rk4sTB8pek'],
    allowed_tokens: [
      {
        mint: USDC,
        price: { sources: [{ type: 'jupiter', url: 'https://prices.example' }], max_age_seconds: 30 },
      },
    ],
    fee_margin_percentage: 12.5,
  }
  expect(written).toMatchObject({
    relayers: [
      { id: 'kora', network: 'mainnet-beta', signer_id: 'main', policies },
      { id: 'kora-2', network: 'mainnet-beta', signer_id: 'spare', policies },
    ],
    signers: [
      { id: 'main', type: 'plain', config: { key: { type: 'env', value: 'SIGNER_1_PRIVATE_KEY' } } },
      { id: 'spare', type: 'plain', config: { key: { type: 'env', value: 'SIGNER_2_PRIVATE_KEY' } } },
    ],
    plugins: [
      {
        mount: '/kora',
        relayers: ['kora', 'kora-2'],
        env: ['KORA_KEYS', 'KORA_HMAC_SECRETS', 'KORA_RECAPTCHA_SECRET', 'KORA_BLOCK_ENGINE_URL'],
        forward_headers: ['x-api-key', 'x-timestamp', 'x-hmac-signature', 'x-recaptcha-token'],
        raw_body: true,
        cors_origins: ['https://wallet.example'],
        rules: {
          user_limits: [
            { per: 'hour', count: 4 },
            { per: 'day', count: 100 },
          ],
        },
      },
    ],
  })
  const settings = readSettings(written.plugins[0].config)
  expect(settings).toMatchObject({
    pool: [
      { id: 'kora', weight: 3 },
      { id: 'kora-2', weight: 1 },
    ],
    strategy: 'weighted',
    price: { type: 'fixed', token: USDC, amount: 1_000n, isStrict: true },
    paymentAddress: PAYEE,
    protection: {
      apiKeysEnv: 'KORA_KEYS',
      hmac: { secretsEnv: 'KORA_HMAC_SECRETS', maxAgeSeconds: 120 },
      recaptcha: { threshold: 0.5, methods: new Set(['signTransaction', 'signBundle']) },
    },
    needsSignatures: true,
    opensAccounts: true,
    rules: {
      requiredPrograms: [TOKEN_PROGRAM],
      versions: new Set([0]),
      maxPriorityFee: 50_000,
      instructionLimits: [{ instruction: 'create', max: 2n, windowSeconds: 7_200 }],
    },
    bundles: { blockEngineUrlEnv: 'KORA_BLOCK_ENGINE_URL' },
    disabled: new Set(['signTransaction', 'transferTransaction', 'estimateBundleFee']),
  })
  const { mint, account } = settings.rules.extensions
  // Known ones that are not blocked: a transfer fee and immutable owners, no hooks (14), pausing (26) and memos (8).
  expect([1, 14, 26].map((one) => mint?.has(one))).toEqual([true, false, false])
  expect([7, 8].map((one) => account?.has(one))).toEqual([true, false])
  const config = await loadPrinted(outcome, {
    folder,
    env: {
      SIGNER_1_PRIVATE_KEY: KEY_PAIR,
      SIGNER_2_PRIVATE_KEY: anotherKeyPair(),
      KORA_KEYS: `kora:${API_KEY}`,
      KORA_HMAC_SECRETS: 'kora:a-secret-of-hmac',
      KORA_RECAPTCHA_SECRET: 'a-secret',
      KORA_BLOCK_ENGINE_URL: 'https://engine.example',
    },
  })
  expect(config.relayers).toHaveLength(2)
})

test('what could not be taken is named with its key, and no secret is printed', async () => {
  const { args } = await files(EVERY_KEY)
  const { out, err } = await runImport(...args)
  for (const key of [
    'kora.global_rate_limit',
    'Each transaction of a bundle pays for itself',
    'kora.usage_limit.fallback_if_unavailable',
    'kora.usage_limit.max_transactions',
    'kora.usage_limit.rules: rule 3 has no window, and limits count in a time.',
    'kora.lighthouse.enabled',
    'kora.plugins.enabled',
    'validation.allow_durable_transactions',
    'validation.allowed_transaction_versions',
    'validation.token_2022.blocked_mint_extensions: no extension has the name nothing',
    'validation.fee_payer_policy.system.allow_create_account: it opens associated token accounts',
    'validation.fee_payer_policy.system.allow_transfer',
    'validation.fee_payer_policy.system.nonce.allow_withdraw',
    'validation.fee_payer_policy.system.create_account_only_via',
    'The signer "hosted": its type privy',
    'Set RATE_LIMIT_REQUESTS_PER_SECOND',
    'Set METRICS_ENABLED=true',
    'SIGNER_1_PRIVATE_KEY: ',
    'KORA_HMAC_SECRETS: ',
  ])
    expect(err).toContain(key)
  expect(err).not.toContain('validation.fee_payer_policy.system.allow_assign')
  for (const secret of [API_KEY, 'a-secret-of', 'a-further-key', ':secret@'])
    expect(out + err).not.toContain(secret)
})

test('with --out, the secrets of callers go to a file that only its owner can read', async () => {
  const { folder, args } = await files(EVERY_KEY)
  const { code } = await runImport(...args, '--out', join(folder, 'config.json'))
  expect(code).toBe(0)
  const lines = (await readFile(join(folder, 'secrets.env'), 'utf8')).trim().split('\n')
  expect(lines.toSorted()).toEqual(
    [
      `KORA_KEYS=kora:${API_KEY},kora-2:a-further-key-of-the-api-1`,
      'KORA_HMAC_SECRETS=kora:a-secret-of-hmac-0123456789-0123456789',
      'KORA_RECAPTCHA_SECRET=a-secret-of-recaptcha',
      'KORA_BLOCK_ENGINE_URL=https://mainnet.block-engine.example',
    ].toSorted(),
  )
})

test.each<[string, string, string]>([
  ['a price that is free', '[validation.price]\ntype = "free"', ''],
  ['a service without a key', '[kora]\nrate_limit = 1', 'Anyone who reaches the path may call'],
  ['a fixed price of nothing', '[validation.price]\ntype = "fixed"', 'validation.price.type: a fixed price'],
  [
    'rent that no one pays',
    '[validation.price]\ntype = "free"\n[validation.fee_payer_policy.system]\nallow_create_account = true',
    'no one would pay the rent',
  ],
  ['a secret that is short', '[kora.auth]\nhmac_secret = "short"', 'kora.auth.hmac_secret: expected 16'],
  [
    'a method that is not known',
    '[kora.auth]\nprotected_methods = ["doSomething"]',
    'kora.auth.protected_methods: doSomething',
  ],
  [
    'prices that are made up',
    '[validation]\nprice_source = "Mock"\nallowed_spl_paid_tokens = ["x"]',
    'Add a price',
  ],
  ['every token', '[validation]\nallowed_spl_paid_tokens = "All"', 'validation.allowed_spl_paid_tokens'],
  [
    'a source of another kind',
    '[validation]\nprice_source = "Oracle"',
    'validation.price_source: prices of Oracle',
  ],
  ['a key of a later version', '[kora]\nnew_thing = 1', 'kora.new_thing: this key is not known'],
])('%s is taken or named', async (_, config, expected) => {
  const { args } = await files(config)
  const { code, out, err } = await runImport(...args)
  expect(code).toBe(0)
  expect(err).toContain(expected)
  expect(err).not.toContain('undefined')
  if (expected === '') expect(JSON.parse(out)).toMatchObject({ plugins: [{ config: { price: 'free' } }] })
})

test('a file that is no TOML is refused without its text, and one without a signer too', async () => {
  const { args } = await files('[kora\nsecret = "a-secret-of-the-file"')
  const { code, err } = await runImport(...args)
  expect([code, err]).toEqual([2, expect.stringContaining('kora.toml is not TOML (line 1)')])
  expect(err).not.toContain('a-secret')
  const { args: without } = await files('[kora]\nrate_limit = 1', '')
  const outcome = await runImport(...without)
  expect([outcome.code, outcome.err]).toEqual([2, expect.stringContaining('signers: none can be taken')])
})

/** The keys of Kora's configuration, one in a line. */
const readKeys = async () =>
  (await readFile(join(import.meta.dirname, 'kora-keys.txt'), 'utf8')).trim().split('\n')

/** The groups of the document's table. A step is a thing that a person does. */
const GROUPS = ['taken', 'named', 'not needed', 'step']

/** Reads the table of the document: the names of its rows, each with its group. */
async function readTable(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(import.meta.dirname, '../../docs/coming-from-kora.md'), 'utf8')
  const rows = text.split('\n').flatMap((line) => {
    const [, names, group = ''] = /^\| (`.+?`) \| ([a-z ]+) \|/.exec(line) ?? []
    return [...(names ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => [name, group] as const)
  })
  return new Map(rows)
}

test('every key of Kora is taken, refused by name, or not needed with the reason, and the document says which', async () => {
  const table = await readTable()
  const keys = await readKeys()
  expect(keys.length).toBeGreaterThan(140)
  const groups = keys.map((path) => ({ path, group: table.get(rowNameOf(path) ?? '') ?? '' }))
  expect(groups.filter(({ group }) => !GROUPS.includes(group))).toEqual([])
  expect([...table.keys()].toSorted()).toEqual(Object.keys(KORA_KEYS).toSorted())
})

test('every row is of a key of Kora, and the example of these tests has all of them', async () => {
  const keys = await readKeys()
  const used = leavesOf(asEntry(parse(EVERY_KEY)) ?? {}).map(([path]) => path)
  expect(used.filter((path) => !keys.includes(path))).toEqual([])
  const unusedBy = (paths: readonly string[]) => {
    const rows = new Set(paths.map(rowNameOf))
    return Object.keys(KORA_KEYS).filter((name) => !rows.has(name))
  }
  expect(unusedBy(keys)).toEqual([])
  // The example has the table of the same name.
  expect(unusedBy(used)).toEqual(['validation.price_source'])
})

test('every method of the plugin has a switch of Kora’s', async () => {
  const names = METHODS.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  expect(names.filter((name) => KORA_KEYS[`kora.enabled_methods.${name}`] === undefined)).toEqual([])
})

test('The import knows the names that the plugin knows', () => {
  expect(names.METHODS).toEqual(METHODS)
  expect(names.MINT_EXTENSIONS).toEqual(Object.keys(MINT_EXTENSIONS))
  expect(names.ACCOUNT_EXTENSIONS).toEqual(Object.keys(ACCOUNT_EXTENSIONS))
})
