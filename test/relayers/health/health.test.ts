import { describe, expect, test } from 'vitest'
import type { Answer } from '../../../src/chains/answer.ts'
import type { EvmPolicies } from '../../../src/chains/evm/content.ts'
import {
  evaluateHealth,
  type HealthFacts,
  type HealthMemory,
  NO_MEMORY,
  nextStep,
  untilNextCheck,
} from '../../../src/relayers/health/health.ts'
import type { DisabledReason, EvmRelayerConfig, Relayer } from '../../../src/relayers/relayer.ts'
import { topUpProblem, topUpProblems } from '../../../src/relayers/top-up.ts'

const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const NOW = Date.parse('2026-11-20T10:00:00Z')

const RELAYER: Relayer = {
  id: 'r1',
  name: 'One',
  network: 'anvil',
  networkType: 'evm',
  address: ADDRESS,
  signerId: 'key',
  paused: false,
  systemDisabled: false,
  policies: {},
}
const STELLAR: Relayer = { ...RELAYER, networkType: 'stellar', network: 'testnet', policies: {} }

const ok = <T>(value: T): Answer<T> => ({ kind: 'ok', value })
const SILENT: Answer<never> = { kind: 'unknown', detail: 'fetch failed' }
const WRONG: Answer<never> = {
  kind: 'refused',
  refusal: { code: 'invalid_request', detail: 'network anvil: chain 5 is not 31337.' },
}
const GONE: Answer<never> = { kind: 'refused', refusal: { code: 'account_not_found', detail: 'no account' } }

const WELL: HealthFacts = {
  network: ok(undefined),
  endpoints: [{ host: 'node.example', maskedUrl: 'https://node.example/***', healthy: true }],
  balance: ok(10n ** 18n),
  sourceAccounts: [{ address: ADDRESS, confirmed: 7n, next: ok(8n) }],
  unexplained: [],
  history: { kind: 'explained' as const },
  signers: [],
}
const sourceAccount = (next: Answer<bigint>) => [{ address: ADDRESS, confirmed: 7n, next }]

function judge(facts: Partial<HealthFacts>, memory: HealthMemory = NO_MEMORY, relayer: Relayer = RELAYER) {
  const unit = relayer.networkType === 'stellar' ? 'stroops' : 'wei'
  return evaluateHealth({ relayer, unit, now: NOW }, { ...WELL, ...facts }, memory)
}

describe('one look', () => {
  test.each<[string, Partial<HealthFacts>, DisabledReason['type'] | undefined, boolean]>([
    ['everything right', {}, undefined, false],
    ['the chain is further than we are', { sourceAccounts: sourceAccount(ok(100n)) }, undefined, false],
    ['nothing was ever confirmed', { sourceAccounts: [] }, undefined, false],
    ['another chain', { network: WRONG }, 'RpcValidationFailed', false],
    [
      'another chain, and what it says of money',
      { network: WRONG, balance: ok(0n) },
      'RpcValidationFailed',
      false,
    ],
    ['silence', { network: SILENT, balance: SILENT, sourceAccounts: [] }, undefined, true],
    ['no one tells the balance', { balance: SILENT }, undefined, true],
    ['nothing to spend', { balance: ok(0n) }, 'BalanceCheckFailed', false],
    ['exactly the minimum', { balance: ok(1n) }, undefined, false],
    ['a nonce that is behind, once', { sourceAccounts: sourceAccount(ok(7n)) }, undefined, true],
    ['no one tells the nonce', { sourceAccounts: sourceAccount(SILENT) }, undefined, true],
    [
      'no money, and no one tells the nonce',
      { balance: ok(0n), sourceAccounts: sourceAccount(SILENT) },
      'BalanceCheckFailed',
      true,
    ],
    ['a key that signs', { signers: [{ kind: 'ok' }] }, undefined, false],
    ['a key whose service is silent', { signers: [{ kind: 'unknown', detail: 'silent' }] }, undefined, true],
    [
      'a key that is refused',
      { signers: [{ kind: 'refused', detail: 'denied' }] },
      'SignerCheckFailed',
      false,
    ],
    [
      'a key that is refused, and nothing to spend',
      { signers: [{ kind: 'refused', detail: 'denied' }], balance: ok(0n) },
      'Multiple',
      false,
    ],
  ])('%s', (_name, facts, type, unsure) => {
    const { evaluation } = judge(facts)
    expect({ type: evaluation.reason?.type, unsure: evaluation.unsure }).toEqual({ type, unsure })
  })

  test.each<[EvmPolicies, bigint, boolean]>([
    [{ minBalance: 0n }, 0n, true],
    [{ minBalance: 2n ** 100n }, 2n ** 100n - 1n, false],
    [{ minBalance: 2n ** 100n }, 2n ** 100n, true],
  ])('a min_balance of %o is compared with %d on the account', (policies, balance, healthy) => {
    const { evaluation } = judge({ balance: ok(balance) }, NO_MEMORY, { ...RELAYER, policies })
    expect(evaluation.reason === undefined).toBe(healthy)
  })

  test('the default minimum is the one of the chain', () => {
    const { evaluation } = judge({ balance: ok(999_999n) }, NO_MEMORY, STELLAR)
    expect(evaluation.reason?.details).toBe('The account can spend 999999 stroops; min_balance is 1000000.')
  })

  test('an account that is gone, on Stellar, is a matter of its balance', () => {
    expect(
      judge({ balance: ok(0n), sourceAccounts: sourceAccount(GONE) }, NO_MEMORY, STELLAR).evaluation,
    ).toMatchObject({
      reason: { type: 'BalanceCheckFailed' },
      unsure: false,
    })
  })
})

describe('silence', () => {
  const silent = { network: SILENT, balance: SILENT, sourceAccounts: [] }
  const since = (checks: number, ms: number): HealthMemory => ({
    outOfStep: 0,
    silence: { checks, since: NOW - ms },
  })

  test.each([
    ['twice before, over half a minute', since(2, 30_000), true],
    ['twice before, within a moment', since(2, 29_999), false],
    ['once before, for an hour', since(1, 3_600_000), false],
  ])('%s: believed %o', (_name, memory, believed) => {
    const { evaluation } = judge(silent, memory)
    expect(evaluation).toEqual(
      believed
        ? {
            unsure: false,
            reason: {
              type: 'RpcValidationFailed',
              details:
                'No endpoint of network anvil (node.example) has answered since 2026-11-20 09:59:30 UTC.',
            },
          }
        : { unsure: true },
    )
  })

  test('an answer in between resets the count, and nonces that were out of step are remembered through it', () => {
    expect(judge({}, since(2, 60_000)).memory).toEqual({ outOfStep: 0 })
    expect(judge(silent, { outOfStep: 1 }).memory).toEqual({
      outOfStep: 1,
      silence: { checks: 1, since: NOW },
    })
  })
})

describe('a nonce out of step', () => {
  test('is believed when it is seen again', () => {
    const once = judge({ sourceAccounts: sourceAccount(ok(3n)) })
    expect(once.memory).toEqual({ outOfStep: 1 })
    expect(judge({ sourceAccounts: sourceAccount(ok(3n)) }, once.memory).evaluation).toEqual({
      unsure: false,
      reason: {
        type: 'NonceSyncFailed',
        details: `${ADDRESS} has nonce 3 next on network anvil, but nonce 7 of it is confirmed: the chain was reset, or it is another one. Nothing is signed for it. To end its open transactions and start over: relayer reset anvil, or POST /api/v1/networks/evm:anvil/reset.`,
      },
    })
  })

  test('is remembered as long as no answer comes, and forgotten when it is right', () => {
    expect(judge({ sourceAccounts: sourceAccount(SILENT) }, { outOfStep: 1 }).memory.outOfStep).toBe(1)
    expect(judge({}, { outOfStep: 1 }).memory.outOfStep).toBe(0)
  })

  test('is a sequence number on Stellar', () => {
    const { evaluation } = judge(
      { sourceAccounts: sourceAccount(ok(3n)), balance: ok(10n ** 9n) },
      { outOfStep: 1 },
      STELLAR,
    )
    expect(evaluation.reason).toMatchObject({
      type: 'SequenceSyncFailed',
      details: expect.stringContaining('sequence number 3 next'),
    })
  })

  test('with the balance it is several reasons, told in one text', () => {
    const { evaluation } = judge({ sourceAccounts: sourceAccount(ok(3n)), balance: ok(0n) }, { outOfStep: 1 })
    expect(evaluation.reason?.type).toBe('Multiple')
    expect(evaluation.reason?.details).toMatch(/min_balance is 1\. 0xf39F.* has nonce 3 next/)
  })
})

describe('the next step after a check', () => {
  const low: DisabledReason = { type: 'BalanceCheckFailed', details: 'The account can spend 0 wei.' }
  const lower: DisabledReason = { ...low, details: 'The account can spend 1 wei.' }
  const silent: DisabledReason = { type: 'RpcValidationFailed', details: 'Nobody answers.' }
  const enabled = { systemDisabled: false }
  const disabled = { systemDisabled: true, disabledReason: low }
  test.each([
    ['a healthy one stays as it is', enabled, { unsure: false }, { kind: 'none' }],
    ['what is not sure disables no one', enabled, { unsure: true }, { kind: 'none' }],
    ['a reason disables', enabled, { reason: low, unsure: true }, { kind: 'disable', reason: low }],
    ['what heals enables', disabled, { unsure: false }, { kind: 'enable' }],
    ['what is not sure heals no one', disabled, { unsure: true }, { kind: 'remain' }],
    [
      'another number is no other reason',
      disabled,
      { reason: lower, unsure: false },
      { kind: 'remain', reason: lower },
    ],
    [
      'another reason is told',
      disabled,
      { reason: silent, unsure: false },
      { kind: 'disable', reason: silent },
    ],
    [
      'another reason that may be half of the story is not',
      disabled,
      { reason: silent, unsure: true },
      { kind: 'remain' },
    ],
  ])('%s', (_name, relayer, evaluation, step) => {
    expect(nextStep(relayer, evaluation)).toEqual(step)
  })
})

test('the pauses between checks grow with each failure, up to a minute', () => {
  const seconds = [0, 1, 2, 3, 4, 5, 6, 100].map((failed) => untilNextCheck(failed, 25_000) / 1_000)
  expect(seconds).toEqual([25, 10, 20, 30, 45, 60, 60, 60])
})

function relayer(id: string, from?: string, network = 'anvil'): EvmRelayerConfig {
  const topUp = from === undefined ? {} : { topUp: { from, below: 1n, to: 2n, max_per_day: 3n } }
  return { id, name: id, network, networkType: 'evm', signerId: id, paused: false, policies: topUp }
}

describe('the treasury of a relayer', () => {
  test.each([
    ['is fine on the same network', [relayer('a', 'b'), relayer('b')], undefined],
    ['may itself be filled', [relayer('a', 'b'), relayer('b', 'c'), relayer('c')], undefined],
    ['cannot be itself', [relayer('a', 'a')], 'cannot refill itself'],
    ['has to exist', [relayer('a', 'b')], 'there is no relayer "b"'],
    [
      'is on its network',
      [relayer('a', 'b'), relayer('b', undefined, 'sepolia')],
      'on another network (evm:sepolia)',
    ],
    ['is not filled by it', [relayer('a', 'b'), relayer('b', 'a')], 'in a circle: a from b from a'],
    [
      'is not filled by what it fills',
      [relayer('a', 'b'), relayer('b', 'c'), relayer('c', 'a')],
      'in a circle: a from b from c from a',
    ],
    [
      'may be part of a circle that it is not in',
      [relayer('a', 'b'), relayer('b', 'c'), relayer('c', 'b')],
      undefined,
    ],
  ])('%s', (_title, relayers, expected) => {
    const [first] = relayers
    const problem = first && topUpProblem(first, relayers)
    if (expected === undefined) expect(problem).toBeUndefined()
    else expect(problem).toContain(expected)
  })

  test('is checked for every relayer of a file', () => {
    const problems = topUpProblems([relayer('a', 'b'), relayer('b', 'c'), relayer('c', 'b')])
    expect(problems).toHaveLength(2)
    expect(problems[0]).toMatch(/^relayer "b" has an impossible top_up: .* b from c from b/)
  })
})
