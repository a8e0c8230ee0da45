import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readPatched } from '../../../src/handlers/read/relayer.ts'
import { EVM_POLICIES } from '../../../src/relayers/policies/evm.ts'
import { decodePoliciesOf } from '../../../src/relayers/policies/policies.ts'
import { decodePolicies, encodePolicies, type Policy } from '../../../src/relayers/policies/policy-table.ts'
import { SOLANA_POLICIES } from '../../../src/relayers/policies/solana.ts'
import { STELLAR_POLICIES } from '../../../src/relayers/policies/stellar.ts'
import type { EvmRelayer } from '../../../src/relayers/relayer.ts'

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
  expect(description).toMatch(new RegExp(`\\b${policy.default} if absent`))
})
