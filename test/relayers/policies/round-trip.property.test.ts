import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseJson, stringifyJson } from '../../../src/contract/exact-integers.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import type { Database } from '../../../src/database/db.ts'
import { readPatched } from '../../../src/handlers/codecs/relayer.ts'
import { presentRelayer } from '../../../src/handlers/present/shared.ts'
import type { NetworkType } from '../../../src/networks/network.ts'
import type { EVM_POLICIES } from '../../../src/relayers/policies/evm.ts'
import type { WirePolicies } from '../../../src/relayers/policies/policy-table.ts'
import type { SOLANA_POLICIES } from '../../../src/relayers/policies/solana.ts'
import type { STELLAR_POLICIES } from '../../../src/relayers/policies/stellar.ts'
import type { Relayer } from '../../../src/relayers/relayer.ts'
import { readRelayer } from '../../../src/relayers/relayer-document.ts'
import { findRelayer, saveRelayer, updateRelayer } from '../../../src/relayers/store.ts'
import { openTestDatabase } from '../../support/database.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

const u128 = fc.bigInt(0n, 2n ** 128n - 1n)
const int64 = fc.bigInt(0n, 2n ** 63n - 1n)
const word = (letters: string, length: number) =>
  fc.array(fc.constantFrom(...letters), { minLength: length, maxLength: length }).map((all) => all.join(''))
const methods = fc.array(fc.stringMatching(/^[A-Za-z0-9_]{1,20}$/), { maxLength: 3 })
const addresses = fc.array(
  word('0123456789abcdef', 40).map((digits) => `0x${digits}`),
  { maxLength: 3 },
)
const keys = fc.array(word('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 44), {
  maxLength: 3,
})

const rules = fc.record(
  {
    receivers: addresses,
    contracts: keys,
    limits: fc.array(
      fc.record(
        {
          per: fc.constantFrom('hour', 'day'),
          asset: fc.constantFrom('native', `C${'A'.repeat(55)}`),
          value: u128,
        },
        { requiredKeys: ['per', 'asset', 'value'] },
      ),
      { maxLength: 3 },
    ),
    hours: fc.constant({ from: '08:00', to: '18:30', days: ['monday'] }),
    idempotency: fc.constantFrom('required', 'optional'),
    signatures: fc.constantFrom('any', 'readable'),
  },
  { requiredKeys: [] },
)

function topUpOf(most: bigint) {
  return fc.record({
    from: fc.constant('treasury'),
    below: fc.bigInt({ min: 1n, max: most / 2n }),
    to: fc.bigInt({ min: most / 2n + 1n, max: most }),
    max_per_day: fc.bigInt({ min: 1n, max: most }),
  })
}

const percentages = fc.integer({ min: 0, max: 1_000_000 }).map((units) => units / 10_000)

function tokensOf(key: 'mint' | 'asset', name: string) {
  const optional = <T extends Record<string, fc.Arbitrary<unknown>>>(fields: T) =>
    fc.record(fields, { requiredKeys: [] })
  const source = fc.oneof(
    fc.record({ type: fc.constant('fixed'), price: fc.constantFrom('1', '148.25', '0.0001') }),
    fc.record({
      type: fc.constant('http'),
      url: fc.constant('https://prices.example/xlm'),
      pointer: fc.constantFrom('/price', '/a/0/b'),
      time_pointer: fc.constant('/at'),
    }),
    fc.record({
      type: fc.constant('oracle'),
      ...(key === 'asset' && { contract: fc.constant(`C${'A'.repeat(55)}`) }),
      native: fc.constant('XLM'),
      token: fc.constant('USDC'),
    }),
    fc.record({
      type: fc.constant('pyth'),
      url: fc.constant('https://prices.example'),
      native: fc.constant('ef'.repeat(32)),
      token: fc.constant(`0x${'ea'.repeat(32)}`),
      max_confidence_percentage: percentages,
    }),
    ...(key === 'mint'
      ? [fc.record({ type: fc.constant('jupiter'), url: fc.constant('https://prices.example') })]
      : []),
  )
  const token = optional({
    decimals: fc.integer({ min: 0, max: 38 }),
    symbol: fc.constant('USDC'),
    max_allowed_fee: u128,
    max_token_balance: u128,
    swap_config: optional({
      slippage_percentage: percentages.map((one) => one),
      min_amount: u128,
      max_amount: u128,
    }),
    price: fc.record({
      sources: fc.array(source, { minLength: 1, maxLength: 2 }),
      max_age_seconds: fc.integer({ min: 1, max: 86_400 }),
      max_difference_percentage: percentages,
    }),
  })
  return fc.array(token, { maxLength: 1 }).map((tokens) => tokens.map((one) => ({ [key]: name, ...one })))
}

const sponsoring = {
  fee_payment_strategy: fc.constantFrom('user', 'relayer'),
  fee_margin_percentage: percentages,
}

/** A policy that a table has and this list lacks does not compile. */
type Arbitraries<T> = { readonly [Name in keyof WirePolicies<T>]-?: fc.Arbitrary<unknown> }

const EVM: Arbitraries<typeof EVM_POLICIES> = {
  eip1559_pricing: fc.boolean(),
  gas_limit_estimation: fc.boolean(),
  allow_authorization_list: fc.boolean(),
  fair_share: fc.boolean(),
  max_queue_seconds: fc.integer({ min: 1, max: 86_400 }),
  shared_account: fc.boolean(),
  gas_price_cap: u128,
  tx_fee_cap: u128,
  min_balance: u128,
  warn_balance: u128,
  private_transactions: fc.boolean(),
  private_fallback_blocks: fc.integer({ min: 1, max: 1_000_000 }),
  fee_limit_multiplier: fc.integer({ min: 1, max: 1_000 }),
  whitelist_receivers: addresses,
  wallet_rpc: fc.boolean(),
  typed_data_chain_ids: fc.array(
    fc.oneof(fc.constant('*'), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String)),
  ),
  allowed_rpc_methods: methods,
  rules,
  top_up: topUpOf(2n ** 128n - 1n),
}
const STELLAR: Arbitraries<typeof STELLAR_POLICIES> = {
  fair_share: fc.boolean(),
  max_queue_seconds: fc.integer({ min: 1, max: 86_400 }),
  shared_account: fc.boolean(),
  min_balance: int64,
  warn_balance: int64,
  max_fee: int64,
  timeout_seconds: fc.integer({ min: 1, max: 86_400 }),
  ...sponsoring,
  allowed_tokens: tokensOf('asset', `USDC:G${'A'.repeat(55)}`),
  slippage_percentage: percentages,
  fee_forwarder: fc.constant(`C${'B'.repeat(55)}`),
  allowed_rpc_methods: methods,
  rules,
  top_up: topUpOf(2n ** 63n - 1n),
}
const SOLANA: Arbitraries<typeof SOLANA_POLICIES> = {
  fair_share: fc.boolean(),
  max_queue_seconds: fc.integer({ min: 1, max: 86_400 }),
  shared_account: fc.boolean(),
  min_balance: int64,
  warn_balance: int64,
  max_allowed_fee_lamports: int64,
  allowed_programs: keys,
  allowed_accounts: keys,
  disallowed_accounts: keys,
  max_signatures: fc.integer({ min: 1, max: 19 }),
  max_tx_data_size: fc.integer({ min: 1, max: 1232 }),
  fee_payer_spending: fc.constantFrom('own', 'always', 'never', 'token_accounts'),
  ...sponsoring,
  allowed_tokens: tokensOf('mint', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'),
  allowed_rpc_methods: methods,
  rules,
  top_up: topUpOf(2n ** 63n - 1n),
}

const POLICIES: Readonly<Record<NetworkType, fc.Arbitrary<Record<string, unknown>>>> = {
  evm: fc.record(EVM, { requiredKeys: [] }),
  stellar: fc.record(STELLAR, { requiredKeys: [] }),
  // The two lists exclude each other.
  solana: fc
    .record(SOLANA, { requiredKeys: [] })
    .map(({ disallowed_accounts, ...others }) =>
      others.allowed_accounts === undefined && disallowed_accounts !== undefined
        ? { ...others, disallowed_accounts }
        : others,
    ),
}

/** Reads a relayer out of the text of a configuration file. */
function fromFile(networkType: NetworkType, policies: object) {
  const text = stringifyJson({
    id: networkType,
    network: 'testnet',
    network_type: networkType,
    signer_id: 'dev',
    policies,
  })
  const problems: string[] = []
  const relayer = readRelayer({ value: parseJson(text), path: 'relayers[0]' }, problems)
  if (relayer === undefined || problems.length > 0) throw new Error(problems.join('\n'))
  return { ...relayer, address: 'own' }
}

async function stored(id: string): Promise<Relayer> {
  const relayer = await findRelayer(database.db, id)
  if (relayer === undefined) throw new Error(`relayer ${id} is not stored`)
  return relayer
}

/** The policies of an answer, read as an exact client reads them. */
function answerOf(relayer: Relayer): unknown {
  const { policies } = presentRelayer(relayer, undefined)
  return exact(parseJson(stringifyJson(policies)))
}

/** Amounts as bigint, whatever their size: JSON does not tell small amounts from other numbers. */
function exact(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  if (Array.isArray(value)) return value.map(exact)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, exact(inner)]))
}

const asText = (policies: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(policies).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value]),
  )

test.each(['evm', 'solana', 'stellar'] as const)(
  'policies of %s survive the file, the database, the answer and a patch of another field',
  async (networkType) => {
    const patch: Schemas['UpdateRelayerRequest'] = { name: 'Changed' }
    await fc.assert(
      fc.asyncProperty(POLICIES[networkType], fc.boolean(), async (policies, isText) => {
        const configured = fromFile(networkType, isText ? asText(policies) : policies)
        await database.db.transaction().execute((tx) => saveRelayer(tx, configured))
        const before = await stored(networkType)
        expect(before.policies).toEqual(configured.policies)
        expect(answerOf(before)).toEqual(exact(policies))

        const patched = readPatched(before, patch)
        await database.db.transaction().execute((tx) => updateRelayer(tx, { ...patched, address: 'own' }))
        const after = await stored(networkType)
        expect(after).toEqual({ ...before, name: 'Changed' })
        expect(answerOf(after)).toEqual(exact(policies))
      }),
      { numRuns: 40 },
    )
  },
)
