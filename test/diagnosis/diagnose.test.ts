import { describe, expect, test } from 'vitest'
import type { Attempt } from '../../src/chains/attempt.ts'
import { diagnose } from '../../src/diagnosis/diagnose.ts'
import type { DiagnosisFacts } from '../../src/diagnosis/facts.ts'
import type { Transaction } from '../../src/transactions/model/transaction.ts'
import { requestOf } from '../chains/evm/build.ts'
import { itemOf } from '../transactions/build.ts'
import { SILENT_NETWORK } from '../transactions/stub-chain.ts'

/** A network that makes its blocks by the clock. */
const SEPOLIA = { ...SILENT_NETWORK, chainId: 11_155_111, averageBlocktimeMs: 12_000 }

const NOW = Date.parse('2030-01-01T00:00:00.000Z')
const RELAYER = {
  id: 'main',
  name: 'Main',
  network: 'anvil',
  networkType: 'evm',
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  signerId: 'dev',
  paused: false,
  systemDisabled: false,
  policies: {},
} as const

/** A submitted transaction at the head of a healthy line; a case changes what it is about. */
function factsOf(
  change: Partial<DiagnosisFacts> = {},
  transaction: Partial<Transaction> = {},
): DiagnosisFacts {
  const item = itemOf([{ outcome: 'broadcast' }], {
    status: 'submitted',
    nonce: 5n,
    cost: 100n,
    ...transaction,
  })
  return {
    transaction: item.transaction,
    relayer: RELAYER,
    attempt: item.attempts[0],
    content: item.attempts[0]?.kind,
    now: NOW,
    ahead: 0,
    inFlight: 1,
    inFlightLimit: 16,
    reserved: 0n,
    balance: 1_000n,
    chainNonce: 5n,
    confirmedNonce: undefined,
    chainReset: undefined,
    signerProblem: undefined,
    pendingNonce: 6n,
    network: SILENT_NETWORK,
    headState: { number: 100n, ageMs: 0, halted: false },
    missing: [],
    price: { bid: 30n, market: 20n, baseFee: 10n },
    head: { number: 100n, hash: '0x1' },
    requiredConfirmations: 3,
    expires: false,
    unit: 'wei',
    endpoints: [{ host: 'a', maskedUrl: 'https://a/***', healthy: true, head: 100n }],
    privateEndpoints: undefined,
    raiseAt: NOW + 60_000,
    raise: undefined,
    ...change,
  }
}

function broadcastBefore(ms: number): Attempt | undefined {
  const { attempt } = factsOf()
  return attempt && { ...attempt, broadcastAt: new Date(NOW - ms) }
}

interface Case {
  readonly name: string
  readonly facts: DiagnosisFacts
  readonly code: string
  readonly action: string
  readonly says?: string
}

const CASES: readonly Case[] = [
  { name: 'all in order', facts: factsOf(), code: 'waiting_for_inclusion', action: 'raise_fee' },
  {
    name: 'nothing wrong, before its speed has waited, although no one could pay for a raise',
    facts: factsOf({ raise: { kind: 'wait', code: 'funds', detail: 'the fee is not raised: no money.' } }),
    code: 'waiting_for_inclusion',
    action: 'raise_fee',
  },
  {
    name: 'a raise above the limit',
    facts: factsOf({
      price: { bid: 99n, market: 20n, limit: 100n, atLimit: true },
      raise: { kind: 'wait', code: 'refused', detail: 'the fee is not raised: too much.' },
      raiseAt: NOW,
    }),
    code: 'fee_at_limit',
    action: 'watch',
    says: 'up to 100',
  },
  {
    name: 'a refused price at the limit',
    facts: factsOf(
      { attempt: undefined, price: { bid: 99n, market: 20n, limit: 100n, atLimit: true } },
      { status: 'pending' },
    ),
    code: 'fee_at_limit',
    action: 'sign',
    says: 'market of 20',
  },
  {
    name: 'a raise that the account cannot pay',
    facts: factsOf({
      raise: { kind: 'wait', code: 'funds', detail: 'the fee is not raised: no money.' },
      raiseAt: NOW,
    }),
    code: 'waiting_for_funds',
    action: 'watch',
    says: 'Blocks leave it out, but the fee is not raised: no money.',
  },
  {
    name: 'a raise beyond a budget',
    facts: factsOf({
      raise: { kind: 'wait', code: 'budget', detail: 'the fee is not raised: Rule limits[0].fees.' },
      raiseAt: NOW,
    }),
    code: 'fee_over_budget',
    action: 'watch',
    says: 'limits[0].fees',
  },
  {
    name: 'private, and at the price of the market',
    facts: factsOf(
      {
        raise: { kind: 'wait', code: 'builders_choice' },
        privateEndpoints: [{ host: 'builder', maskedUrl: 'https://builder/***', healthy: true }],
      },
      { isPrivate: true },
    ),
    code: 'kept_private',
    action: 'watch',
    says: 'the builders behind these endpoints decide',
  },
  {
    name: 'next to be signed, with the words of a node',
    facts: factsOf({}, { status: 'pending', statusReason: 'The network requires a higher fee: no.' }),
    code: 'waiting_to_be_signed',
    action: 'sign',
    says: 'The network requires a higher fee: no.',
  },
  {
    name: 'next to be signed',
    facts: factsOf({}, { status: 'pending', nonce: undefined }),
    code: 'waiting_to_be_signed',
    action: 'sign',
  },
  {
    name: 'for a later time',
    facts: factsOf(
      { ahead: 3, balance: 0n },
      { status: 'pending', nonce: undefined, request: requestOf({ validFrom: new Date(NOW + 1) }) },
    ),
    code: 'scheduled',
    action: 'sign',
    says: '2030-01-01T00:00:00.001Z',
  },
  {
    name: 'in a block, not deep enough',
    facts: factsOf({}, { status: 'mined', block: { number: 99n, hash: '0x2' } }),
    code: 'waiting_for_confirmations',
    action: 'confirm',
    says: 'Block 99',
  },
  {
    name: 'ended',
    facts: factsOf({}, { status: 'failed', statusReason: 'Reverted.' }),
    code: 'final',
    action: 'none',
    says: 'Reverted.',
  },
  {
    name: 'no node answers',
    facts: factsOf({ head: undefined, balance: undefined, chainNonce: undefined, price: undefined }),
    code: 'nodes_silent',
    action: 'raise_fee',
  },
  {
    name: 'the network makes no blocks',
    facts: factsOf({ network: SEPOLIA, headState: { number: 100n, ageMs: 50_900, halted: false } }),
    code: 'chain_halted',
    action: 'watch',
    says: 'The network has made no block for 50 s; one is expected every 12 s.',
  },
  {
    name: 'a block is not late yet',
    facts: factsOf({ network: SEPOLIA, headState: { number: 100n, ageMs: 47_000, halted: false } }),
    code: 'waiting_for_inclusion',
    action: 'raise_fee',
  },
  {
    name: 'the newest block is old by its own time, and no one has looked before',
    facts: factsOf({
      network: SEPOLIA,
      head: { number: 100n, hash: '0x1', time: new Date(NOW - 240_000) },
    }),
    code: 'chain_halted',
    action: 'watch',
    says: 'has the time 2029-12-31T23:56:00.000Z, 240 s before',
  },
  {
    name: 'a chain that makes blocks on demand was idle before',
    facts: factsOf({
      attempt: broadcastBefore(9_000),
      headState: { number: 100n, ageMs: 3_600_000, halted: false },
      head: { number: 100n, hash: '0x1', time: new Date(NOW - 3_600_000) },
    }),
    code: 'waiting_for_inclusion',
    action: 'raise_fee',
  },
  {
    name: 'a chain that makes blocks on demand makes none for it',
    facts: factsOf({
      attempt: broadcastBefore(11_000),
      headState: { number: 100n, ageMs: 3_600_000, halted: false },
    }),
    code: 'chain_halted',
    action: 'watch',
    says: 'no block for 11 s',
  },
  {
    name: 'no block confirms what one has included',
    facts: factsOf(
      { network: SEPOLIA, headState: { number: 100n, ageMs: 300_000, halted: true } },
      { status: 'mined', block: { number: 100n, hash: '0x1' } },
    ),
    code: 'chain_halted',
    action: 'confirm',
  },
  {
    name: 'the service that holds the key does not answer',
    facts: factsOf({ signerProblem: 'The key is not there.' }, { status: 'pending', nonce: undefined }),
    code: 'signer_unavailable',
    action: 'sign',
    says: 'The key is not there.',
  },
  {
    name: 'paused before it was signed',
    facts: factsOf({ relayer: { ...RELAYER, paused: true } }, { status: 'pending', nonce: undefined }),
    code: 'relayer_paused',
    action: 'none',
  },
  {
    name: 'disabled before it was signed',
    facts: factsOf(
      {
        relayer: {
          ...RELAYER,
          systemDisabled: true,
          disabledReason: { type: 'BalanceCheckFailed', details: 'no money' },
        },
      },
      { status: 'pending', nonce: undefined },
    ),
    code: 'relayer_disabled',
    action: 'none',
    says: 'no money',
  },
  {
    name: 'a hole before it',
    facts: factsOf({ chainNonce: 3n, missing: [3n, 4n] }),
    code: 'missing_predecessor',
    action: 'fill_gap',
    says: '3, 4',
  },
  {
    name: 'no money',
    facts: factsOf({ balance: 99n }),
    code: 'waiting_for_funds',
    action: 'watch',
    says: '99',
  },
  {
    name: 'money promised to others',
    facts: factsOf({ reserved: 950n }),
    code: 'waiting_for_funds',
    action: 'watch',
  },
  {
    name: 'too many in flight',
    facts: factsOf({ inFlight: 16 }, { status: 'pending', nonce: undefined }),
    code: 'in_flight_limit',
    action: 'sign',
  },
  {
    name: 'no node took it',
    facts: factsOf({}, { status: 'sent', statusReason: 'pool is full' }),
    code: 'not_taken',
    action: 'broadcast',
    says: 'pool is full',
  },
  {
    name: 'the chain is past its nonce',
    facts: factsOf({ chainNonce: 6n }, { status: 'sent', statusReason: 'nonce too low' }),
    code: 'nonce_passed',
    action: 'watch',
    says: 'nonce 5',
  },
  {
    name: 'queued in the pool of the node',
    facts: factsOf({ pendingNonce: 5n, attempt: broadcastBefore(3_000) }),
    code: 'queued_in_pool',
    action: 'raise_fee',
    says: 'Nonce 5 is next',
  },
  {
    name: 'queued in the pool of the node because of its price',
    facts: factsOf({
      pendingNonce: 5n,
      attempt: broadcastBefore(3_000),
      price: { bid: 9n, market: 25n, baseFee: 10n },
    }),
    code: 'fee_below_base_fee',
    action: 'raise_fee',
  },
  {
    name: 'not yet in the pending block of the node',
    facts: factsOf({ pendingNonce: 5n, attempt: broadcastBefore(2_999) }),
    code: 'waiting_for_inclusion',
    action: 'raise_fee',
  },
  {
    name: 'below the base fee',
    facts: factsOf({ price: { bid: 9n, market: 25n, baseFee: 10n } }),
    code: 'fee_below_base_fee',
    action: 'raise_fee',
  },
  {
    name: 'at the cap',
    facts: factsOf({
      price: { bid: 30n, market: 40n, baseFee: 10n },
      relayer: { ...RELAYER, policies: { gasPriceCap: 32n } },
    }),
    code: 'fee_at_cap',
    action: 'watch',
    says: '33',
  },
  {
    name: 'at the cap of one transaction on Stellar',
    facts: factsOf({ unit: 'stroops', price: { bid: 500n, market: 4_000n, feeCap: 500n } }),
    code: 'fee_at_cap',
    action: 'watch',
    says: 'The market is at 4000 stroops per operation, and max_fee allows 500.',
  },
  {
    name: 'at the cap of one transaction on Solana',
    facts: factsOf({ unit: 'lamports', price: { bid: 0n, market: 4_000n, feeCap: 0n } }),
    code: 'fee_at_cap',
    action: 'watch',
    says: 'max_allowed_fee_lamports allows 0.',
  },
  {
    name: 'below the market, and the next version would be bound by the cap',
    facts: factsOf({ unit: 'lamports', price: { bid: 100n, market: 4_000n, feeCap: 500n } }),
    code: 'fee_below_market',
    action: 'raise_fee',
    says: 'the service would offer 500 now',
  },
  {
    name: 'behind others',
    facts: factsOf({ ahead: 2 }),
    code: 'behind_others',
    action: 'watch',
    says: '2 transactions',
  },
  {
    name: 'below the market',
    facts: factsOf({ price: { bid: 15n, market: 20n, baseFee: 10n } }),
    code: 'fee_below_market',
    action: 'raise_fee',
  },
  {
    name: 'nodes far apart',
    facts: factsOf({
      endpoints: [
        { host: 'a', maskedUrl: 'https://a/***', healthy: true, head: 100n },
        { host: 'b', maskedUrl: 'https://b/***', healthy: true, head: 97n },
      ],
    }),
    code: 'nodes_disagree',
    action: 'raise_fee',
    says: '97',
  },
  {
    name: 'a cancellation that no one has signed yet',
    facts: factsOf({}, { purpose: 'cancel' }),
    code: 'canceling',
    action: 'raise_fee',
    says: 'is signed next',
  },
  {
    name: 'a cancellation whose no-op was sent',
    facts: factsOf({ content: 'cancel' }, { purpose: 'cancel' }),
    code: 'canceling',
    action: 'raise_fee',
    says: 'a no-op with its nonce was sent. If a block includes the earlier version first',
  },
  {
    name: 'a cancellation whose no-op a block includes',
    facts: factsOf({ content: 'cancel' }, { purpose: 'cancel', status: 'mined' }),
    code: 'canceling',
    action: 'confirm',
    says: 'a block includes the no-op that uses its nonce, and it ends when that block is final.',
  },
  {
    name: 'a replacement that waits',
    facts: factsOf(
      { expires: true },
      { purpose: 'successor', statusReason: 'Both versions could be included.' },
    ),
    code: 'replacement_waiting',
    action: 'watch',
    says: 'Both versions could be included.',
  },
  {
    name: 'a replacement that waits for bytes that no node has taken',
    facts: factsOf({ expires: true }, { purpose: 'successor', status: 'sent' }),
    code: 'replacement_waiting',
    action: 'watch',
    says: 'when the earlier one can no longer be included',
  },
  {
    name: 'another first block',
    facts: factsOf({ chainReset: 'The chain was reset.', chainNonce: 0n }),
    code: 'chain_reset',
    action: 'none',
    says: 'The chain was reset.',
  },
  {
    name: 'the nonce of a confirmed transaction is next',
    facts: factsOf({ chainNonce: 4n, confirmedNonce: 4n }),
    code: 'chain_reset',
    action: 'none',
    says: 'nonce 4 of the account was confirmed',
  },
  {
    name: 'the nonce after a confirmed one is next',
    facts: factsOf({ chainNonce: 5n, confirmedNonce: 4n }),
    code: 'waiting_for_inclusion',
    action: 'raise_fee',
  },
  {
    name: 'a price of the caller',
    facts: factsOf({ raiseAt: undefined }),
    code: 'waiting_for_inclusion',
    action: 'watch',
  },
  {
    name: 'valid_until comes first',
    facts: factsOf({}, { request: { type: 'evm', value: 1n, validUntil: new Date(NOW + 1_000) } }),
    code: 'waiting_for_inclusion',
    action: 'expire',
  },
]

describe('diagnose', () => {
  test.each(CASES)('$name: $code, then $action', ({ facts, code, action, says = '' }) => {
    const { findings, nextAction } = diagnose(facts)
    expect({ code: findings[0].code, action: nextAction.action }).toEqual({ code, action })
    expect(findings[0].message).toContain(says)
  })

  test('nodes one block apart do not disagree', () => {
    const endpoints = [
      { host: 'a', maskedUrl: 'https://a/***', healthy: true, head: 100n },
      { host: 'b', maskedUrl: 'https://b/***', healthy: true, head: 99n },
    ]
    expect(diagnose(factsOf({ endpoints })).findings.map(({ code }) => code)).toEqual([
      'waiting_for_inclusion',
    ])
  })

  test('a raise that is overdue is said to come now, not in the past', () => {
    const { nextAction } = diagnose(factsOf({ raiseAt: NOW - 5_000 }))
    expect(nextAction.at).toEqual(new Date(NOW))
  })
})
