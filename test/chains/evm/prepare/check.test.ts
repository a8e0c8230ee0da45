import { describe, expect, test } from 'vitest'
import type { EvmPolicies, EvmRequest } from '../../../../src/chains/evm/content.ts'
import { checkRequest } from '../../../../src/chains/evm/prepare/check.ts'
import { accountWith, TO } from '../build.ts'

interface Case {
  readonly name: string
  readonly request: Partial<EvmRequest>
  readonly policies?: EvmPolicies
  /** The network has EIP-1559 fees. Default true. */
  readonly eip1559?: boolean
  readonly code?: string
  /** The sentence must name these: the field, and the number that would be accepted. */
  readonly names?: readonly string[]
}

const MAX_INIT_CODE = 131_072
const WORD = `0x${'1'.repeat(64)}`
const AUTHORIZATION = { chainId: 0, address: TO, nonce: 0n, yParity: 0, r: WORD, s: WORD } as const

const CASES: readonly Case[] = [
  { name: 'a transfer', request: { to: TO } },
  { name: 'a creation', request: { data: '0x00' } },
  {
    name: 'nothing to call and nothing to create',
    request: {},
    code: 'invalid_request',
    names: ['to:', 'data'],
  },
  { name: 'the same with empty data', request: { data: '0x' }, code: 'invalid_request', names: ['to:'] },
  { name: 'init code of the largest size', request: { data: `0x${'00'.repeat(MAX_INIT_CODE)}` } },
  {
    name: 'init code one byte larger',
    request: { data: `0x${'00'.repeat(MAX_INIT_CODE + 1)}` },
    code: 'invalid_request',
    names: ['data:', '131073', '131072'],
  },
  {
    name: 'call data of that size is no init code',
    request: { to: TO, data: `0x${'00'.repeat(MAX_INIT_CODE + 1)}` },
  },
  {
    name: 'gas price and speed',
    request: { to: TO, gasPrice: 1n, speed: 'fast' },
    code: 'invalid_request',
    names: ['gas_price', 'speed'],
  },
  {
    name: 'gas price and EIP-1559 fees',
    request: { to: TO, gasPrice: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
    code: 'invalid_request',
    names: ['exclude each other'],
  },
  {
    name: 'only the ceiling',
    request: { to: TO, maxFeePerGas: 1n },
    code: 'invalid_request',
    names: ['max_priority_fee_per_gas:'],
  },
  {
    name: 'only the tip',
    request: { to: TO, maxPriorityFeePerGas: 1n },
    code: 'invalid_request',
    names: ['max_fee_per_gas:'],
  },
  { name: 'a tip equal to the ceiling', request: { to: TO, maxFeePerGas: 7n, maxPriorityFeePerGas: 7n } },
  {
    name: 'a tip above the ceiling',
    request: { to: TO, maxFeePerGas: 7n, maxPriorityFeePerGas: 8n },
    code: 'invalid_request',
    names: ['max_priority_fee_per_gas:', '7'],
  },
  {
    name: 'EIP-1559 fees on a network without them',
    request: { to: TO, maxFeePerGas: 7n, maxPriorityFeePerGas: 1n },
    eip1559: false,
    code: 'not_supported',
    names: ['max_fee_per_gas:', 'gas_price'],
  },
  { name: 'a gas price on a network without EIP-1559', request: { to: TO, gasPrice: 7n }, eip1559: false },
  { name: 'a price at the cap', request: { to: TO, gasPrice: 100n }, policies: { gasPriceCap: 100n } },
  {
    name: 'a gas price above the cap',
    request: { to: TO, gasPrice: 101n },
    policies: { gasPriceCap: 100n },
    code: 'gas_price_above_cap',
    names: ['gas_price 101', '100'],
  },
  {
    name: 'a ceiling above the cap',
    request: { to: TO, maxFeePerGas: 101n, maxPriorityFeePerGas: 1n },
    policies: { gasPriceCap: 100n },
    code: 'gas_price_above_cap',
    names: ['max_fee_per_gas 101'],
  },
  {
    name: 'a speed is never above the cap',
    request: { to: TO, speed: 'fastest' },
    policies: { gasPriceCap: 1n },
  },
  {
    name: 'no gas limit where none is estimated',
    request: { to: TO },
    policies: { gasLimitEstimation: false },
    code: 'gas_limit_required',
    names: ['gas_limit:', 'gas_limit_estimation'],
  },
  {
    name: 'a gas limit where none is estimated',
    request: { to: TO, gasLimit: 21_000n },
    policies: { gasLimitEstimation: false },
  },
  {
    name: 'an authorization list on a network without EIP-1559',
    request: { to: TO, authorizationList: [AUTHORIZATION] },
    policies: { allowAuthorizationList: true },
    eip1559: false,
    code: 'not_supported',
    names: ['authorization_list:', 'EIP-1559'],
  },
  {
    name: 'an authorization list for a relayer with legacy prices',
    request: { to: TO, authorizationList: [AUTHORIZATION] },
    policies: { allowAuthorizationList: true, eip1559Pricing: false },
    code: 'not_supported',
    names: ['eip1559_pricing'],
  },
  {
    name: 'an authorization list without the policy',
    request: { to: TO, authorizationList: [AUTHORIZATION] },
    code: 'policy_violation',
    names: ['allow_authorization_list'],
  },
  {
    name: 'an access list on a network without EIP-1559',
    request: { to: TO, accessList: [{ address: TO, storageKeys: [] }] },
    eip1559: false,
  },
  {
    name: 'a gas limit of zero',
    request: { to: TO, gasLimit: 0n },
    code: 'gas_limit_too_low',
    names: ['12000', '0 was given'],
  },
  {
    name: 'a gas limit one below the intrinsic gas of every fork',
    request: { to: TO, gasLimit: 11_999n },
    code: 'gas_limit_too_low',
    names: ['12000'],
  },
]

describe('checkRequest', () => {
  test.each(CASES)('$name: $code', ({ request, policies = {}, eip1559 = true, code, names = [] }) => {
    const refusal = checkRequest({ type: 'evm', value: 0n, ...request }, accountWith(policies), {
      chainId: 31337,
      eip1559,
    })
    expect(refusal?.code).toBe(code)
    for (const name of names) expect(refusal?.detail).toContain(name)
  })
})
