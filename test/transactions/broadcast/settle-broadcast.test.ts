import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BroadcastResult } from '../../../src/chains/answer.ts'
import type { Attempt, AttemptKind, AttemptOutcome } from '../../../src/chains/attempt.ts'
import type { Chain } from '../../../src/chains/chain.ts'
import type { EvmAttempt } from '../../../src/chains/evm/types.ts'
import { currentAttempt, isAwaitingExpiry } from '../../../src/transactions/broadcast/broadcast.ts'
import { applyResult } from '../../../src/transactions/broadcast/settle-broadcast.ts'
import type { RelayerRuntime } from '../../../src/transactions/model/runtime.ts'
import { noopReason } from '../../../src/transactions/model/status-reasons.ts'
import type { Purpose, Transaction } from '../../../src/transactions/model/transaction.ts'
import { createReplacer } from '../../../src/transactions/replace/replace.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { attemptOf, legacy, requestOf } from '../../chains/evm/build.ts'
import { CANCELS } from '../../support/samples.ts'
import { itemOf } from '../build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

const NOW = new Date('2030-01-01T00:00:00.000Z')

const chain: Chain = chainOf(createStubChain())

function settle(
  result: BroadcastResult,
  attempts: readonly Partial<EvmAttempt>[],
  change: Partial<Transaction> = {},
  holdsOthers = false,
) {
  const item = itemOf(attempts, { status: 'sent', ...change })
  const attempt = currentAttempt(item)
  if (!attempt) throw new Error('no current attempt')
  return applyResult({ item, attempt, result, now: NOW, costOf: chain.cost, holdsOthers })
}

const SIGNED = { outcome: 'signed' } as const
const IN_POOL = { outcome: 'broadcast', broadcastAt: new Date(1) } as const
const REFUSED = { outcome: 'refused' } as const
const said = (kind: Exclude<BroadcastResult['kind'], 'accepted'>): BroadcastResult => ({
  kind,
  detail: 'words of the node',
})
const ACCEPTED: BroadcastResult = { kind: 'accepted' }
const inMs = (ms: number) => new Date(NOW.getTime() + ms)

const PRICED_OUT = noopReason('priced_out', 'fee too low')
const REFUSED_BEFORE = 'Attempt 2 was refused by the node (not today); attempt 1 still counts.'

interface Case {
  readonly name: string
  readonly result: BroadcastResult
  readonly attempts: readonly Partial<EvmAttempt>[]
  readonly change?: Partial<Transaction>
  readonly want: Partial<Transaction>
  /** Undefined if nothing is decided: whatever is known of the attempt stays. */
  readonly outcome: Attempt['outcome'] | undefined
}

const CASES: readonly Case[] = [
  {
    name: 'taken: submitted, and offered again when nothing is heard',
    result: ACCEPTED,
    attempts: [SIGNED],
    want: { status: 'submitted', sentAt: NOW, nextRunAt: inMs(30_000), currentAttempt: 1 },
    outcome: 'broadcast',
  },
  {
    name: 'taken once more: the first time stays',
    result: ACCEPTED,
    attempts: [IN_POOL],
    change: { status: 'submitted', sentAt: new Date(1) },
    want: { status: 'submitted', sentAt: new Date(1) },
    outcome: 'broadcast',
  },
  {
    name: 'taken, with valid_until before the next look',
    result: ACCEPTED,
    attempts: [SIGNED],
    change: { request: { type: 'evm', value: 1n, validUntil: inMs(5_000) } },
    want: { status: 'submitted', nextRunAt: inMs(5_000) },
    outcome: 'broadcast',
  },
  {
    name: 'taken, and valid_until passed while the node was answering',
    result: ACCEPTED,
    attempts: [SIGNED],
    change: { request: { type: 'evm', value: 1n, validUntil: inMs(-1) } },
    want: { status: 'submitted', nextRunAt: inMs(1_000) },
    outcome: 'broadcast',
  },
  {
    name: 'taken, a cancellation keeps its reason',
    result: ACCEPTED,
    attempts: [SIGNED],
    change: { purpose: 'cancel', statusReason: 'canceled' },
    want: { status: 'submitted', statusReason: 'canceled' },
    outcome: 'broadcast',
  },
  {
    name: 'taken, a no-op keeps why it uses the nonce, and nothing of a wait',
    result: ACCEPTED,
    attempts: [{ ...SIGNED, kind: 'abandon' }],
    change: { purpose: 'abandon', statusReason: `${PRICED_OUT} The node did not answer: time-out` },
    want: { status: 'submitted', statusReason: PRICED_OUT },
    outcome: 'broadcast',
  },
  ...(['unknown', 'nonce_used', 'too_cheap', 'refused'] as const).map(
    (kind): Case => ({
      name: `${kind}: a no-op keeps why it uses the nonce`,
      result: said(kind),
      attempts: [{ ...SIGNED, kind: 'abandon' }],
      change: { purpose: 'abandon', statusReason: PRICED_OUT },
      want: {
        purpose: 'abandon',
        statusReason: expect.stringMatching(
          /^No endpoint .* will use its nonce\. The .*: words of the node$/,
        ) as unknown as string,
      },
      outcome: kind === 'too_cheap' || kind === 'refused' ? 'refused' : undefined,
    }),
  ),
  {
    name: 'taken, a raise after a refused replacement keeps the sentence about the refusal, and nothing of a later failure',
    result: ACCEPTED,
    attempts: [SIGNED],
    change: {
      statusReason: `${REFUSED_BEFORE} The node did not answer; the same bytes are broadcast again: time-out`,
    },
    want: { status: 'submitted', statusReason: REFUSED_BEFORE },
    outcome: 'broadcast',
  },
  {
    name: 'unknown after a refused replacement: both sentences stand',
    result: said('unknown'),
    attempts: [SIGNED],
    change: { statusReason: REFUSED_BEFORE },
    want: {
      statusReason: `${REFUSED_BEFORE} The node did not answer; the same bytes are broadcast again: words of the node`,
    },
    outcome: undefined,
  },
  ...(['unknown', 'later', 'nonce_used'] as const).map(
    (kind): Case => ({
      name: `${kind}: nothing is decided, the same bytes go out again soon (I6)`,
      result: said(kind),
      attempts: [SIGNED],
      want: { status: 'sent', currentAttempt: 1, purpose: 'request', nonce: 5n, nextRunAt: inMs(1_000) },
      outcome: undefined,
    }),
  ),
  {
    name: 'unknown after it was in a pool: still submitted',
    result: said('unknown'),
    attempts: [IN_POOL],
    change: { status: 'submitted' },
    want: { status: 'submitted', currentAttempt: 1 },
    outcome: undefined,
  },
  {
    name: 'underpriced against our own earlier attempt: that one counts again',
    result: said('underpriced'),
    attempts: [IN_POOL, SIGNED],
    want: { status: 'submitted', currentAttempt: 1 },
    outcome: 'refused',
  },
  {
    name: 'refused, the newest earlier one that was not refused counts again',
    result: said('refused'),
    attempts: [IN_POOL, IN_POOL, REFUSED, SIGNED],
    want: { status: 'submitted', currentAttempt: 2 },
    outcome: 'refused',
  },
  {
    name: 'underpriced against something unknown: the bytes stay open, nothing is given up (R4)',
    result: said('underpriced'),
    attempts: [SIGNED],
    want: { status: 'sent', currentAttempt: 1, purpose: 'request', nextRunAt: inMs(1_000) },
    outcome: undefined,
  },
  {
    name: 'refused permanently and nothing else in a pool: a no-op takes the nonce (R11)',
    result: said('refused'),
    attempts: [SIGNED],
    want: { status: 'pending', purpose: 'abandon', nonce: 5n, currentAttempt: undefined, nextRunAt: NOW },
    outcome: 'refused',
  },
  {
    name: 'too cheap at the price of the service: the same nonce is priced again',
    result: said('too_cheap'),
    attempts: [SIGNED],
    want: {
      status: 'pending',
      purpose: 'request',
      nonce: 5n,
      currentAttempt: undefined,
      nextRunAt: inMs(5_000),
    },
    outcome: 'refused',
  },
  ...(
    [
      [4, 5_000],
      [5, 10_000],
      [30, 160_000],
    ] as const
  ).map(
    ([refused, wait]): Case => ({
      name: `too cheap after ${refused} attempts: priced again after ${wait} ms`,
      result: said('too_cheap'),
      attempts: [...Array.from({ length: refused }, () => REFUSED), SIGNED],
      want: { status: 'pending', nextRunAt: inMs(wait) },
      outcome: 'refused',
    }),
  ),
  {
    name: 'too cheap at the price of the caller: the price stays, and the bytes are offered again',
    result: said('too_cheap'),
    attempts: [SIGNED],
    change: { request: { type: 'evm', value: 1n, gasPrice: 1n } },
    want: {
      status: 'sent',
      currentAttempt: 1,
      nextRunAt: inMs(5_000),
      statusReason: expect.stringContaining('the caller set its price') as unknown as string,
    },
    outcome: undefined,
  },
  {
    name: 'too cheap for a no-op in place of what had a price of the caller: priced again',
    result: said('too_cheap'),
    attempts: [REFUSED, SIGNED],
    change: { purpose: 'cancel', request: { type: 'evm', value: 1n, gasPrice: 1n } },
    want: { status: 'pending', purpose: 'cancel', nonce: 5n },
    outcome: 'refused',
  },
  {
    name: 'too cheap after a node took it: it may lie in that pool, so the bytes stay',
    result: said('too_cheap'),
    attempts: [IN_POOL],
    change: { status: 'submitted' },
    want: { status: 'submitted', currentAttempt: 1 },
    outcome: undefined,
  },
  {
    name: 'too cheap against an earlier attempt in a pool: that one counts again',
    result: said('too_cheap'),
    attempts: [IN_POOL, SIGNED],
    want: { status: 'submitted', currentAttempt: 1 },
    outcome: 'refused',
  },
  {
    name: 'too dear for one endpoint, while another did not answer: it may have the bytes, so nothing falls back',
    result: { kind: 'too_dear', detail: 'words of the node', unanswered: true },
    attempts: [IN_POOL, SIGNED],
    want: { status: 'sent', currentAttempt: 2 },
    outcome: undefined,
  },
  {
    name: 'too dear for every endpoint: priced again, never given up',
    result: said('too_dear'),
    attempts: [SIGNED],
    want: {
      status: 'pending',
      purpose: 'request',
      nonce: 5n,
      statusReason: 'No endpoint accepts a fee this high: words of the node',
    },
    outcome: 'refused',
  },
  {
    name: 'too dear at the price of the caller: waits with the reason',
    result: said('too_dear'),
    attempts: [SIGNED],
    change: { request: { type: 'evm', value: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n } },
    want: { status: 'sent', currentAttempt: 1 },
    outcome: undefined,
  },
  {
    name: 'a gas limit that was estimated: estimated again for the same nonce',
    result: said('gas_limit'),
    attempts: [SIGNED],
    change: { estimatedGas: 21_000n },
    want: {
      status: 'pending',
      purpose: 'request',
      nonce: 5n,
      estimatedGas: undefined,
      nextRunAt: inMs(1_000),
    },
    outcome: 'refused',
  },
  {
    name: 'a gas limit of the caller: a no-op takes the nonce',
    result: said('gas_limit'),
    attempts: [SIGNED],
    change: { request: { type: 'evm', value: 1n, gasLimit: 21_000n } },
    want: { status: 'pending', purpose: 'abandon', nonce: 5n },
    outcome: 'refused',
  },
  {
    name: 'a gas limit after three estimates: a no-op takes the nonce',
    result: said('gas_limit'),
    attempts: [REFUSED, REFUSED, REFUSED, SIGNED],
    want: { status: 'pending', purpose: 'abandon', nonce: 5n },
    outcome: 'refused',
  },
  {
    name: 'a gas limit after two estimates: once more',
    result: said('gas_limit'),
    attempts: [REFUSED, REFUSED, SIGNED],
    want: { status: 'pending', purpose: 'request', nonce: 5n },
    outcome: 'refused',
  },
  {
    name: 'a refused cancellation stays a cancellation, and is not tried again at once',
    result: said('refused'),
    attempts: [REFUSED, SIGNED],
    change: { purpose: 'cancel' },
    want: { status: 'pending', purpose: 'cancel', nonce: 5n, nextRunAt: inMs(30_000) },
    outcome: 'refused',
  },
]

describe('a price of the caller that no node takes', () => {
  const request = { type: 'evm', value: 1n, gasPrice: 1n } as const
  const signed = (agoMs: number) => ({ outcome: 'signed', signedAt: inMs(-agoMs) }) as const

  test.each(['too_cheap', 'too_dear'] as const)('holds others for two minutes at most: %s', (kind) => {
    const purposeAfter = (agoMs: number, holdsOthers: boolean) =>
      settle(said(kind), [signed(agoMs)], { request }, holdsOthers).transaction.purpose
    expect(purposeAfter(119_999, true)).toBe('request')
    expect(purposeAfter(120_000, false)).toBe('request')
    expect(purposeAfter(120_000, true)).toBe('abandon')
  })

  test('ends nothing while another endpoint may have taken the bytes (I6)', () => {
    const result = { kind: 'too_cheap', detail: 'words of the node', unanswered: true } as const
    const { transaction, outcome } = settle(result, [signed(600_000)], { request }, true)
    expect([transaction.purpose, transaction.currentAttempt, outcome.outcome]).toEqual([
      'request',
      1,
      undefined,
    ])
  })

  test('gives way to the earlier version that a node has taken', () => {
    const settled = settle(said('too_cheap'), [IN_POOL, signed(600_000)], { request }, true)
    expect(settled.transaction).toMatchObject({ purpose: 'request', currentAttempt: 1 })
  })
})

describe('what a node said', () => {
  test.each(CASES)('$name', ({ result, attempts, change = {}, want, outcome }) => {
    const settled = settle(result, attempts, change)
    expect(settled.transaction).toMatchObject(want)
    expect(settled.outcome).toMatchObject({ transactionId: 'tx', number: attempts.length })
    expect(settled.outcome.outcome).toBe(outcome)
  })

  test('the words of the node reach the record', () => {
    for (const kind of ['unknown', 'later', 'nonce_used', 'underpriced', 'refused'] as const) {
      const settled = settle(said(kind), [SIGNED])
      expect(settled.transaction.statusReason).toContain('words of the node')
      expect(settled.outcome.error).toBe('words of the node')
    }
  })

  test('the nonce is never given back', () => {
    for (const kind of ['unknown', 'later', 'nonce_used', 'underpriced', 'refused'] as const) {
      expect(settle(said(kind), [SIGNED]).transaction.nonce).toBe(5n)
    }
  })
})

const EXPIRING = { chain: { expiry: {} } } as unknown as RelayerRuntime
const LASTING = { chain: {} } as unknown as RelayerRuntime

/** A transaction whose first attempt is the current one, as after a reorganisation that dropped its block. */
function canceled(purpose: Purpose, ...others: readonly [AttemptKind, AttemptOutcome][]) {
  const transaction: Transaction = {
    id: 'canceled',
    relayerId: 'main',
    network: 'local',
    from: 'account',
    status: 'submitted',
    createdAt: new Date(0),
    request: requestOf(),
    purpose,
    version: 4,
    currentAttempt: 1,
    cost: 0n,
    nextRunAt: new Date(0),
  }
  const later = others.map(([kind, outcome], index) =>
    attemptOf(legacy(1n), { number: index + 2, kind, outcome }),
  )
  return { transaction, attempts: [attemptOf(legacy(1n)), ...later] }
}

test.each<[string, ReturnType<typeof canceled>, boolean]>([
  ['are wanted', canceled('request'), false],
  ['only have to expire, because nothing is signed for the cancellation', canceled('cancel'), true],
  ['only have to expire, because they get a successor', canceled('successor'), true],
  ['exclude the signed cancellation', canceled('cancel', ['cancel', 'broadcast']), false],
  ['outlive a cancellation that was refused', canceled('cancel', ['cancel', 'refused']), true],
  ['outlive a cancellation that has expired', canceled('cancel', ['cancel', 'expired']), true],
  ['were raised, and only have to expire', canceled('expire', ['speed_up', 'broadcast']), true],
])('bytes that %s are broadcast again, or not', (_name, item, isAwaiting) => {
  expect(isAwaitingExpiry(EXPIRING, item)).toBe(isAwaiting)
  expect(isAwaitingExpiry(LASTING, item)).toBe(false)
})

describe('a late answer', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /** A cancellation whose bytes the worker offers as well, while the caller's own offer is under way. */
  async function setUp() {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    const [stored] = await insert(fixture.context, newTransaction(owner))
    if (!stored) throw new Error('nothing was stored')
    fixture.clock.advance(1_000)
    await workAccount(fixture.context, owner.relayer.id)
    const fees = { kind: 'legacy', gasPrice: 1_000n } as const
    const draft = { type: 'evm', value: 0n, data: '0x', gasLimit: 21_000n, fees } as const
    const worker = Promise.withResolvers<BroadcastResult>()
    const asked = Promise.withResolvers<void>()
    let step = Promise.resolve()
    stub.override = {
      replace: async () => ({ kind: 'ok', value: { draft, logs: [] } }),
      broadcast: async () => {
        stub.override = {
          broadcast: async () => {
            asked.resolve()
            return [await worker.promise]
          },
        }
        fixture.clock.advance(1_000)
        step = workAccount(fixture.context, owner.relayer.id)
        await asked.promise
        return [{ kind: 'refused', detail: 'exceeds the configured cap' }]
      },
    }
    const cancel = createReplacer(fixture.context).cancel({
      relayer: owner.relayer,
      id: stored.id,
      ...CANCELS,
    })
    await expect(cancel).rejects.toMatchObject({ code: 'replacement_underpriced' })
    return {
      /** What the worker hears after the caller was told. */
      late: async (result: BroadcastResult) => {
        worker.resolve(result)
        await step
        const { attempts } = await reload(fixture.context, stored)
        return attempts.map(({ outcome, error }) => [outcome, error])
      },
    }
  }

  test('a late answer that decides nothing does not restore a change that was undone meanwhile', async () => {
    const { late } = await setUp()
    expect(await late({ kind: 'unknown', detail: 'time-out' })).toEqual([
      ['broadcast', undefined],
      ['refused', 'exceeds the configured cap'],
    ])
  })

  test('a node that has accepted it all the same is believed', async () => {
    const { late } = await setUp()
    expect(await late({ kind: 'accepted' })).toEqual([
      ['broadcast', undefined],
      ['broadcast', undefined],
    ])
  })
})
