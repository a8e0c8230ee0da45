import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { asEntry } from '../../importers/draft.ts'
import { leavesOf, rowOf } from '../../importers/kora.ts'
import { KORA_KEYS } from '../../importers/kora-keys.ts'
import { METHODS, readSettings } from '../../plugins/kora/config.ts'
import { loadPrinted, makeFolder, runImport } from './run-import.ts'

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const PAYEE = 'HtrAcuM8VxTdY2ez4FLKEkEUUx2KwQDypWpTrZ8pNKbH'
const API_KEY = 'a-key-of-the-paymaster-0123456789'

/** Every key that Kora 2.2 and the versions before it read, with a value that says something. */
const EVERY_KEY = `
[kora]
rate_limit = 100
max_request_body_size = 2097152
payment_address = "${PAYEE}"
cors_allow_origins = ["https://wallet.example"]

[kora.auth]
api_key = "${API_KEY}"
hmac_secret = "a-secret-of-hmac-0123456789-0123456789"
max_timestamp_age = 300
recaptcha_secret = "a-secret-of-recaptcha"
recaptcha_score_threshold = 0.5
protected_methods = ["signTransaction"]

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

[kora.enabled_methods]
liveness = true
estimate_transaction_fee = true
estimate_bundle_fee = true
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
max_signatures = 10
price_source = "Jupiter"
allow_durable_transactions = true
allow_any_spl_paid_token = false
allowed_programs = ["11111111111111111111111111111111", "${TOKEN_PROGRAM}"]
require_one_of_programs = ["${TOKEN_PROGRAM}"]
allowed_tokens = ["${USDC}"]
allowed_spl_paid_tokens = ["${USDC}"]
disallowed_accounts = ["hndXZGK45hCxfBYvxejAXzCfCujoqkNf7rk4sTB8pek"]

[validation.price]
type = "margin"
margin = 0.125
amount = 1000
token = "${USDC}"
strict = true

[validation.token_2022]
transfer_hook_policy = "deny_all"
reject_unknown_extensions = true
blocked_mint_extensions = ["pausable"]
blocked_account_extensions = ["memo_transfer"]

[validation.fee_payer_policy.system]
allow_transfer = true
allow_assign = false
allow_create_account = false
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
weight = 1

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

test('the files become a relayer, its signer and the plugin, which the service reads without a problem', async () => {
  const { folder, args } = await files(EVERY_KEY)
  const outcome = await runImport(...args)
  expect(outcome.code).toBe(0)
  // A token needs a price, which Kora's file does not have.
  const priced = outcome.out.replace(
    `"mint": "${USDC}"`,
    `"mint": "${USDC}", "price": { "sources": [{ "type": "fixed", "price": "150" }] }`,
  )
  const printed = { ...outcome, out: priced }
  const written = JSON.parse(outcome.out) as { plugins: [Record<string, unknown>] }
  expect(written).toMatchObject({
    relayers: [
      {
        id: 'kora',
        network: 'mainnet-beta',
        signer_id: 'main',
        policies: {
          fee_payment_strategy: 'relayer',
          fee_payer_spending: 'never',
          max_allowed_fee_lamports: 1_000_000,
          max_signatures: 10,
          allowed_programs: ['11111111111111111111111111111111', TOKEN_PROGRAM],
          disallowed_accounts: ['hndXZGK45hCxfBYvxejAXzCfCujoqkNf7rk4sTB8pek'],
          allowed_tokens: [{ mint: USDC }],
          fee_margin_percentage: 12.5,
        },
      },
    ],
    signers: [{ id: 'main', type: 'plain', config: { key: { type: 'env', value: 'SIGNER_1_PRIVATE_KEY' } } }],
    plugins: [
      {
        mount: '/kora',
        env: ['KORA_KEYS'],
        forward_headers: ['x-api-key'],
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
  expect(readSettings(written.plugins[0].config)).toMatchObject({
    relayerId: 'kora',
    paymentAddress: PAYEE,
    apiKeysEnv: 'KORA_KEYS',
    disabled: new Set(['signTransaction', 'transferTransaction']),
  })
  const config = await loadPrinted(printed, {
    folder,
    env: { SIGNER_1_PRIVATE_KEY: KEY_PAIR, KORA_KEYS: `kora:${API_KEY}` },
  })
  expect(config.relayers).toHaveLength(1)
})

test('what could not be taken is named with its key, and no secret is printed', async () => {
  const { args } = await files(EVERY_KEY)
  const { out, err } = await runImport(...args)
  for (const key of [
    'kora.auth.hmac_secret',
    'kora.auth.recaptcha_secret',
    'kora.auth.protected_methods',
    'kora.usage_limit.fallback_if_unavailable',
    'kora.usage_limit.max_transactions',
    'kora.usage_limit.rules: rule 3 has no window of a month or less; rule 4 counts instructions',
    'kora.enabled_methods.sign_bundle',
    'kora.lighthouse.enabled',
    'kora.plugins.enabled',
    'validation.require_one_of_programs',
    'validation.allow_durable_transactions',
    'validation.price_source',
    'validation.price.amount',
    'validation.fee_payer_policy.system.allow_transfer',
    'validation.fee_payer_policy.system.nonce.allow_withdraw',
    'validation.fee_payer_policy.system.create_account_only_via',
    'The signer "hosted": its type privy',
    'The signer "spare": the plugin has one fee payer',
    'Set RATE_LIMIT_REQUESTS_PER_SECOND',
    'Set METRICS_ENABLED=true',
    'Add a price',
    'SIGNER_1_PRIVATE_KEY: ',
  ])
    expect(err).toContain(key)
  expect(err).not.toContain('validation.fee_payer_policy.system.allow_assign')
  for (const secret of [API_KEY, 'a-secret-of', ':secret@']) expect(out + err).not.toContain(secret)
})

test('with --out, the key of the API goes to a file that only its owner can read', async () => {
  const { folder, args } = await files(EVERY_KEY)
  const { code } = await runImport(...args, '--out', join(folder, 'config.json'))
  expect(code).toBe(0)
  expect(await readFile(join(folder, 'secrets.env'), 'utf8')).toBe(`KORA_KEYS=kora:${API_KEY}\n`)
})

test.each<[string, string, string]>([
  ['a price that is free', '[validation.price]\ntype = "free"', ''],
  ['a service without a key', '[kora]\nrate_limit = 1', 'Anyone who reaches the path may call'],
  ['a price that is fixed', '[validation.price]\ntype = "fixed"', 'validation.price.type: a fixed price'],
  ['every token', '[validation]\nallowed_spl_paid_tokens = "All"', 'validation.allowed_spl_paid_tokens'],
  ['a source with a table', '[validation.price_source]\ntype = "Jupiter"', 'validation.price_source.type'],
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

test('every key of Kora has a row, every row is of a key, and the document has them all', async () => {
  const keys = leavesOf(asEntry(parse(EVERY_KEY)) ?? {}).map(([path]) => path)
  expect(keys.filter((path) => rowOf(path) === undefined)).toEqual([])
  const used = new Set(keys.map(rowOf))
  const tableOnly = ['validation.price_source.*']
  const unused = Object.entries(KORA_KEYS).filter(([, row]) => !used.has(row))
  expect(unused.map(([name]) => name)).toEqual(tableOnly)
  const text = await readFile(join(import.meta.dirname, '../../docs/coming-from-kora.md'), 'utf8')
  const told = [...text.matchAll(/`((?:kora|validation|metrics)\.[a-z0-9_.*]+)`/g)].map(([, name]) => name)
  expect([...new Set(told)].toSorted()).toEqual(Object.keys(KORA_KEYS).toSorted())
})

test('every method of the plugin has a switch of Kora’s', async () => {
  const names = METHODS.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  expect(names.filter((name) => KORA_KEYS[`kora.enabled_methods.${name}`] === undefined)).toEqual([])
})
