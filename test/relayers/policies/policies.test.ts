import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readPatched } from '../../../src/handlers/codecs/relayer.ts'
import { EVM_POLICIES } from '../../../src/relayers/policies/evm.ts'
import { decodePoliciesOf, findRelaxationsOf } from '../../../src/relayers/policies/policies.ts'
import { decodePolicies, encodePolicies, type Policy } from '../../../src/relayers/policies/policy-table.ts'
import { SOLANA_POLICIES } from '../../../src/relayers/policies/solana.ts'
import { STELLAR_POLICIES } from '../../../src/relayers/policies/stellar.ts'
import type {
  EvmRelayer,
  EvmRelayerConfig,
  SolanaRelayerConfig,
  StellarRelayerConfig,
} from '../../../src/relayers/relayer.ts'

const RELAYER: EvmRelayer = {
  id: 'r',
  name: 'R',
  network: 'anvil',
  networkType: 'evm',
  address: '0xown',
  signerId: 'dev',
  paused: false,
  systemDisabled: false,
  policies: { gasPriceCap: 2n ** 128n - 1n, minBalance: 7n },
}

test('null in a patch takes a policy back to its default, and leaves the others', () => {
  const { policies } = readPatched(RELAYER, { policies: { gas_price_cap: null, eip1559_pricing: false } })
  expect(policies).toEqual({ minBalance: 7n, eip1559Pricing: false })
})

test('a stored policy of another release is an error, because it may forbid something', () => {
  expect(() => decodePoliciesOf('evm', { maxTip: '5' })).toThrow('stored policies are unknown: maxTip')
  expect(() => decodePoliciesOf('stellar', { gasPriceCap: '5' })).toThrow('unknown: gasPriceCap')
})

test.each([
  ['evm', { gasPriceCap: 'much' }],
  ['evm', { eip1559Pricing: 'yes' }],
  ['evm', { whitelistReceivers: [1] }],
  ['stellar', { timeoutSeconds: '120' }],
  ['solana', { feePayerSpending: 'sometimes' }],
] as const)('a stored value of another type is an error: %s %j', (type, stored) => {
  expect(() => decodePoliciesOf(type, stored)).toThrow(/stored policy \w+ has the value/)
})

test('amounts are stored as decimal strings, which keep every digit', () => {
  const policies = { gasPriceCap: 2n ** 128n - 1n, minBalance: 1n, gasLimitEstimation: true }
  expect(encodePolicies(policies)).toContain(`"gasPriceCap":"${2n ** 128n - 1n}"`)
  expect(decodePolicies(EVM_POLICIES, JSON.parse(encodePolicies(policies)))).toEqual(policies)
})

const CONTRACT = parse(readFileSync('openapi.yaml', 'utf8'))

const TABLES: Readonly<Record<string, Readonly<Record<string, Policy<unknown>>>>> = {
  EvmPolicies: EVM_POLICIES,
  StellarPolicies: STELLAR_POLICIES,
  SolanaPolicies: SOLANA_POLICIES,
}
const described = Object.entries(TABLES).flatMap(([schema, table]) =>
  Object.values(table)
    .filter((policy) => typeof policy.default === 'bigint' || typeof policy.default === 'number')
    .map((policy) => [schema, policy.wireName, policy] as const),
)

test.each(described)('the contract says in %s the default of %s', (schema, wireName, policy) => {
  const { description } = CONTRACT.components.schemas[schema].properties[wireName]
  // As a word, because 1 stands in 1000000.
  expect(description).toMatch(new RegExp(`\\b${policy.default}\\sif\\sabsent`))
})

const SHARED = { id: 'r', name: 'R', network: 'n', signerId: 's', paused: false }
type Evm = EvmRelayerConfig['policies']
type Solana = SolanaRelayerConfig['policies']
type Stellar = StellarRelayerConfig['policies']

const onEvm = (policies: Evm): EvmRelayerConfig => ({ ...SHARED, networkType: 'evm', policies })
const onSolana = (policies: Solana): SolanaRelayerConfig => ({ ...SHARED, networkType: 'solana', policies })
const onStellar = (policies: Stellar): StellarRelayerConfig => ({
  ...SHARED,
  networkType: 'stellar',
  policies,
})

const A = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const B = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'

const TOP_UP = { from: 'treasury', below: 5n, to: 10n, max_per_day: 100n }

type Case<P> = readonly [value: P, ceiling: P, relaxed: readonly string[]]

const EVM: readonly Case<Evm>[] = [
  [{ gasPriceCap: 7n }, { gasPriceCap: 7n }, []],
  [{ feeLimitMultiplier: 3 }, { feeLimitMultiplier: 3 }, []],
  [{ feeLimitMultiplier: 4 }, { feeLimitMultiplier: 3 }, ['fee_limit_multiplier']],
  [{}, { feeLimitMultiplier: 3 }, ['fee_limit_multiplier']],
  [{}, { feeLimitMultiplier: 5 }, []],
  [{ gasPriceCap: 8n }, { gasPriceCap: 7n }, ['gas_price_cap']],
  [{}, { gasPriceCap: 7n }, ['gas_price_cap']],
  [{ gasPriceCap: 2n ** 128n - 1n }, {}, []],
  [{ minBalance: 7n }, { minBalance: 7n }, []],
  [{ minBalance: 6n }, { minBalance: 7n }, ['min_balance']],
  // Without the policy the balance that stays is 1 wei.
  [{}, { minBalance: 1n }, []],
  [{}, { minBalance: 2n }, ['min_balance']],
  [{ whitelistReceivers: [A] }, { whitelistReceivers: [A, B] }, []],
  [{ whitelistReceivers: [A, B] }, { whitelistReceivers: [A] }, ['whitelist_receivers']],
  [{}, { whitelistReceivers: [] }, ['whitelist_receivers']],
  [{ walletRpc: true }, { walletRpc: false }, ['wallet_rpc']],
  [{ topUp: TOP_UP }, { topUp: TOP_UP }, []],
  [{}, { topUp: TOP_UP }, []],
  [{ topUp: TOP_UP }, {}, ['top_up']],
  [{ topUp: { ...TOP_UP, below: 1n, to: 2n, max_per_day: 1n } }, { topUp: TOP_UP }, []],
  [{ topUp: { ...TOP_UP, from: 'other' } }, { topUp: TOP_UP }, ['top_up']],
  [{ topUp: { ...TOP_UP, below: 6n } }, { topUp: TOP_UP }, ['top_up']],
  [{ topUp: { ...TOP_UP, to: 11n } }, { topUp: TOP_UP }, ['top_up']],
  [{ topUp: { ...TOP_UP, max_per_day: 101n } }, { topUp: TOP_UP }, ['top_up']],
  [{ walletRpc: false }, { walletRpc: true }, []],
  [{ typedDataChainIds: ['1'] }, {}, ['typed_data_chain_ids']],
  [{ typedDataChainIds: ['1'] }, { typedDataChainIds: ['1', '2'] }, []],
  [{ typedDataChainIds: ['1', '3'] }, { typedDataChainIds: ['1', '2'] }, ['typed_data_chain_ids']],
  [{ typedDataChainIds: ['*'] }, { typedDataChainIds: ['1', '2'] }, ['typed_data_chain_ids']],
  [{ typedDataChainIds: ['1', '*'] }, { typedDataChainIds: ['*'] }, []],
  [{}, { typedDataChainIds: ['*'] }, []],
  [{}, { walletRpc: false }, []],
  [{ privateTransactions: true }, { privateTransactions: false }, []],
  [{ privateTransactions: false }, { privateTransactions: true }, ['private_transactions']],
  [{}, { privateTransactions: true }, ['private_transactions']],
  // Without the policy a transaction stays private for ever.
  [{ privateFallbackBlocks: 1 }, {}, ['private_fallback_blocks']],
  [{ privateFallbackBlocks: 4 }, { privateFallbackBlocks: 5 }, ['private_fallback_blocks']],
  [{ privateFallbackBlocks: 5 }, { privateFallbackBlocks: 5 }, []],
  [{}, { privateFallbackBlocks: 5 }, []],
  [{ allowedRpcMethods: [] }, { allowedRpcMethods: ['a'] }, []],
  [{}, { allowedRpcMethods: ['a'] }, ['allowed_rpc_methods']],
  [
    { gasLimitEstimation: true, eip1559Pricing: true },
    { gasLimitEstimation: false, eip1559Pricing: false },
    [],
  ],
]

const SOLANA: readonly Case<Solana>[] = [
  // Each allows what the other one does not.
  [{ feePayerSpending: 'token_accounts' }, { feePayerSpending: 'own' }, ['fee_payer_spending']],
  [{ feePayerSpending: 'own' }, { feePayerSpending: 'token_accounts' }, ['fee_payer_spending']],
  [{ feePayerSpending: 'token_accounts' }, { feePayerSpending: 'never' }, ['fee_payer_spending']],
  [{ feePayerSpending: 'token_accounts' }, { feePayerSpending: 'always' }, []],
  [{ maxFee: 5n }, { maxFee: 5n }, []],
  [{ maxFee: 6n }, { maxFee: 5n }, ['max_allowed_fee_lamports']],
  [{}, { maxFee: 5n }, ['max_allowed_fee_lamports']],
  [{}, { maxFee: 1_000_000n }, []],
  [{ disallowedAccounts: [A, B] }, { disallowedAccounts: [A] }, []],
  [{ disallowedAccounts: [B] }, { disallowedAccounts: [A] }, ['disallowed_accounts']],
  [{ feePayerSpending: 'never' }, { feePayerSpending: 'own' }, []],
  [{ feePayerSpending: 'always' }, { feePayerSpending: 'own' }, ['fee_payer_spending']],
  [{}, { feePayerSpending: 'never' }, ['fee_payer_spending']],
  [{ maxSignatures: 3 }, { maxSignatures: 2 }, ['max_signatures']],
  [{ maxDataSize: 100 }, { maxDataSize: 99 }, ['max_tx_data_size']],
  [{ allowedPrograms: [A] }, { allowedPrograms: [B] }, ['allowed_programs']],
  [{ allowedAccounts: [A] }, { allowedAccounts: [A] }, []],
]

const STELLAR: readonly Case<Stellar>[] = [
  [{ maxFee: 8n, timeoutSeconds: 9 }, { maxFee: 7n, timeoutSeconds: 1 }, ['max_fee']],
  [{}, { maxFee: 1_000_000n }, []],
  [{}, { maxFee: 999_999n }, ['max_fee']],
]

const namesOf = (relaxations: readonly { wireName: string }[]) => relaxations.map(({ wireName }) => wireName)

describe('policies beyond a ceiling', () => {
  test.each(EVM)('are found on EVM in case %#', (policies, ceiling, relaxed) => {
    expect(namesOf(findRelaxationsOf(onEvm(policies), onEvm(ceiling)))).toEqual(relaxed)
  })

  test.each(SOLANA)('are found on Solana in case %#', (policies, ceiling, relaxed) => {
    expect(namesOf(findRelaxationsOf(onSolana(policies), onSolana(ceiling)))).toEqual(relaxed)
  })

  test.each(STELLAR)('are found on Stellar in case %#', (policies, ceiling, relaxed) => {
    expect(namesOf(findRelaxationsOf(onStellar(policies), onStellar(ceiling)))).toEqual(relaxed)
  })
})
