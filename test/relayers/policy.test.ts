import { describe, expect, test } from 'vitest'
import {
  inactive,
  limitProblem,
  receiverForbidden,
  shortOfFunds,
} from '../../src/relayers/policies/policy.ts'
import type { EvmRelayer } from '../../src/relayers/relayer.ts'

const OWN = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const LISTED = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const OTHER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const ZERO = `0x${'0'.repeat(40)}`

function relayerWith(policies: EvmRelayer['policies'] = {}, change: Partial<EvmRelayer> = {}): EvmRelayer {
  return {
    id: 'r1',
    name: 'One',
    network: 'testnet',
    networkType: 'evm',
    address: OWN,
    signerId: 'key',
    paused: false,
    systemDisabled: false,
    policies,
    ...change,
  }
}

test('a limit for another network than that of the relayer would limit nothing', () => {
  const limits = (network?: string): EvmRelayer['policies'] => ({
    rules: { limits: [{ per: 'day', asset: 'native', value: 1n, ...(network && { network }) }] },
  })
  expect(limitProblem(relayerWith())).toBeUndefined()
  expect(limitProblem(relayerWith(limits()))).toBeUndefined()
  expect(limitProblem(relayerWith(limits('evm:testnet')))).toBeUndefined()
  expect(limitProblem(relayerWith(limits('evm:testent')))).toBe(
    'a limit is for the network "evm:testent", and the relayer is on "evm:testnet"',
  )
})

describe('inactive', () => {
  const disabledReason = { type: 'NonceSyncFailed', details: 'The nonce could not be read.' } as const
  test.each([
    { name: 'active', change: {}, code: undefined, says: '' },
    { name: 'paused', change: { paused: true }, code: 'relayer_paused', says: 'r1' },
    {
      name: 'disabled',
      change: { systemDisabled: true, disabledReason },
      code: 'relayer_disabled',
      says: disabledReason.details,
    },
    {
      name: 'disabled without a reason',
      change: { systemDisabled: true },
      code: 'relayer_disabled',
      says: 'health check',
    },
    {
      name: 'both: a person comes first',
      change: { paused: true, systemDisabled: true },
      code: 'relayer_paused',
      says: 'r1',
    },
  ])('$name: $code', ({ change, code, says }) => {
    const refusal = inactive(relayerWith({}, change))
    expect(refusal?.code).toBe(code)
    expect(refusal?.detail ?? '').toContain(says)
  })
})

describe('receiverForbidden', () => {
  const whitelist = { whitelistReceivers: [LISTED.toLowerCase()] }
  test.each([
    { name: 'no whitelist', policies: {}, to: OTHER, allowed: true },
    {
      name: 'an empty whitelist allows no one',
      policies: { whitelistReceivers: [] },
      to: OTHER,
      allowed: false,
    },
    { name: 'listed', policies: whitelist, to: LISTED, allowed: true },
    { name: 'listed, in another letter case', policies: whitelist, to: LISTED.toLowerCase(), allowed: true },
    { name: 'not listed', policies: whitelist, to: OTHER, allowed: false },
    { name: 'its own address, for cancelling', policies: whitelist, to: OWN, allowed: true },
    { name: 'the zero address', policies: whitelist, to: ZERO, allowed: true },
    { name: 'a creation has no receiver', policies: whitelist, to: undefined, allowed: false },
    { name: 'a creation without a whitelist', policies: {}, to: undefined, allowed: true },
  ])('$name: $allowed', ({ policies, to, allowed }) => {
    const refusal = receiverForbidden(relayerWith(policies), {
      type: 'evm',
      value: 0n,
      ...(to !== undefined && { to }),
    })
    expect(refusal?.code).toBe(allowed ? undefined : 'receiver_not_whitelisted')
  })
})

describe('shortOfFunds', () => {
  test.each([
    {
      name: 'exactly enough, one wei stays by default',
      policies: {},
      balance: 101n,
      reserved: 60n,
      cost: 40n,
      short: false,
    },
    { name: 'one wei less', policies: {}, balance: 100n, reserved: 60n, cost: 40n, short: true },
    {
      name: 'min_balance of zero',
      policies: { minBalance: 0n },
      balance: 100n,
      reserved: 60n,
      cost: 40n,
      short: false,
    },
    {
      name: 'min_balance just kept',
      policies: { minBalance: 50n },
      balance: 150n,
      reserved: 60n,
      cost: 40n,
      short: false,
    },
    {
      name: 'min_balance touched',
      policies: { minBalance: 51n },
      balance: 150n,
      reserved: 60n,
      cost: 40n,
      short: true,
    },
    { name: 'more reserved than there is', policies: {}, balance: 10n, reserved: 60n, cost: 0n, short: true },
    { name: 'beyond 2^53', policies: {}, balance: 2n ** 128n, reserved: 0n, cost: 2n ** 128n, short: true },
  ])('$name: $short', ({ policies, short, balance, reserved, cost }) => {
    const refusal = shortOfFunds(relayerWith(policies), { unit: 'wei', balance, reserved, cost })
    expect(refusal?.code).toBe(short ? 'insufficient_balance' : undefined)
    if (short)
      for (const amount of [balance, reserved, cost]) expect(refusal?.detail).toContain(String(amount))
  })
})
