import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Attempt } from '../../../src/chains/attempt.ts'
import type { Expiry, ExternalNonce } from '../../../src/chains/capabilities.ts'
import type { EvmDraft, EvmRequest } from '../../../src/chains/evm/content.ts'
import type { Relayer } from '../../../src/relayers/relayer.ts'
import type { TransactionsContext } from '../../../src/transactions/model/runtime.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { createReplacer } from '../../../src/transactions/replace/replace.ts'
import { refuseExternallySigned } from '../../../src/transactions/replace/replacement-refusal.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { watchNetwork } from '../../../src/transactions/watch/watch.ts'
import { createWatchMemory } from '../../../src/transactions/watch/watch-round.ts'
import { draftOf, FROM, legacy, requestOf, TO } from '../../chains/evm/build.ts'
import { ACTOR, CANCELS } from '../../support/samples.ts'
import { itemOf } from '../build.ts'
import { type Fixture, insert, newTransaction, openFixture, pendingCancelerOf, reload } from '../fixture.ts'
import { chainOf, createStubChain, headAt, include, type StubChain } from '../stub-chain.ts'

describe('refusals', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  describe('a change of content that a third party signed', () => {
    interface Case {
      readonly name: string
      readonly change?: Partial<Transaction>
      readonly outcome?: Attempt['outcome']
      /** The nonce that the new content brings; `cancel` for a cancellation. */
      readonly brings: ExternalNonce | undefined | 'cancel'
      readonly detail: string | undefined
    }
    const EXTERNAL = { sourceAccount: TO, nonce: 5n }
    const OURS = `transaction_xdr: the sequence numbers of ${FROM} are assigned by the service. Send the operations, or the transaction unsigned.`
    const CANCELED_BY_SIGNER = `Its sequence number belongs to ${TO}, who has signed it; only that account can cancel it.`
    const CASES: readonly Case[] = [
      { name: 'own content may follow own content', brings: undefined, detail: undefined },
      { name: 'own content may be canceled', brings: 'cancel', detail: undefined },
      {
        name: 'signed content may follow own content, when the chain allows it',
        brings: { address: TO, nonce: 5n },
        detail: undefined,
      },
      {
        name: 'content that was signed for an account of the service may not',
        brings: { address: FROM, nonce: 5n },
        detail: OURS,
      },
      {
        name: 'the same signed content may follow',
        change: EXTERNAL,
        brings: { address: TO, nonce: 5n },
        detail: undefined,
      },
      {
        name: 'another nonce may follow, when the chain allows it',
        change: EXTERNAL,
        brings: { address: TO, nonce: 6n },
        detail: undefined,
      },
      {
        name: 'own content may follow signed content',
        change: EXTERNAL,
        brings: undefined,
        detail: undefined,
      },
      {
        name: 'it cannot be canceled while a node may have it',
        change: EXTERNAL,
        brings: 'cancel',
        detail: CANCELED_BY_SIGNER,
      },
      {
        name: 'it cannot be canceled when one node has refused it',
        change: EXTERNAL,
        outcome: 'refused',
        brings: 'cancel',
        detail: CANCELED_BY_SIGNER,
      },
      {
        name: 'it can be canceled together with what waits to take its place',
        change: { ...EXTERNAL, purpose: 'successor' },
        brings: 'cancel',
        detail: undefined,
      },
      {
        name: 'its cancellation can be repeated',
        change: { ...EXTERNAL, purpose: 'cancel' },
        brings: 'cancel',
        detail: undefined,
      },
      {
        name: 'it can be canceled when no one has its own bytes',
        change: { ...EXTERNAL, nonce: 6n },
        brings: 'cancel',
        detail: undefined,
      },
      {
        name: 'it can be canceled after it has expired',
        change: EXTERNAL,
        outcome: 'expired',
        brings: 'cancel',
        detail: undefined,
      },
    ]

    test.each(CASES)('$name', ({ change = {}, outcome = 'broadcast', brings, detail }) => {
      const chain = { externalSigning: { nonceOf: () => (brings === 'cancel' ? undefined : brings) } }
      const context = {
        runtimeOf: () => ({ chain, sourceAccounts: [{ address: FROM }] }),
      } as unknown as TransactionsContext
      const { sourceAccount = FROM } = change
      const request = brings === 'cancel' ? {} : { request: requestOf() }
      const asked = { relayer: {} as Relayer, id: 'tx', ...CANCELS, ...request }
      const error = refuseExternallySigned(context, asked, itemOf([{ outcome, sourceAccount }], change))
      expect(error?.detail).toBe(detail)
      if (detail !== undefined) expect(error?.code).toBe('not_supported')
    })
  })

  async function setUp() {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    const [stored] = await insert(fixture.context, newTransaction(owner, { nextRunAt: new Date(0) }))
    if (!stored) throw new Error('nothing was stored')
    const replacer = createReplacer(fixture.context)
    const replace = (relayer: Relayer = owner.relayer) =>
      replacer.replace({ relayer, id: stored.id, request: requestOf({ value: 7n }), actor: ACTOR })
    const cancel = (relayer: Relayer = owner.relayer) =>
      replacer.cancel({ relayer, id: stored.id, ...CANCELS })
    const submit = () => workAccount(fixture.context, owner.relayer.id)
    return { stub, owner, stored, replace, cancel, submit, now: () => reload(fixture.context, stored) }
  }

  describe('a change', () => {
    test('of a transaction that does not exist says so', async () => {
      const { owner } = await setUp()
      const { replace } = createReplacer(fixture.context)
      await expect(
        replace({ relayer: owner.relayer, id: 'none', request: requestOf(), actor: ACTOR }),
      ).rejects.toMatchObject({
        code: 'transaction_not_found',
        detail: `Relayer ${owner.relayer.id} has no transaction none.`,
      })
    })

    test('of a transaction that is decided says so', async () => {
      const { stored, cancel } = await setUp()
      await fixture.database.db
        .transaction()
        .execute((tx) => saveTransactions(tx, [{ ...stored, status: 'mined' }]))
      await expect(cancel()).rejects.toMatchObject({
        code: 'transaction_not_replaceable',
        detail:
          'The transaction is mined; only pending, sent and submitted ones can be replaced or canceled.',
      })
    })

    test('of a paused relayer is refused, and so is content that breaks a rule', async () => {
      const { owner, stored, replace, cancel, submit, now } = await setUp()
      const paused = { ...owner.relayer, paused: true }
      await expect(replace(paused)).rejects.toMatchObject({ code: 'relayer_paused' })
      const strict = { ...owner.relayer, policies: { whitelistReceivers: [] } }
      await expect(replace(strict)).rejects.toMatchObject({ code: 'receiver_not_whitelisted' })
      expect((await now()).transaction.version).toBe(stored.version)
      await submit()
      const { version } = (await now()).transaction
      await expect(cancel(paused)).rejects.toMatchObject({ code: 'relayer_paused' })
      expect((await now()).transaction.version).toBe(version)
    })

    test('of a paused relayer can be the cancellation of an unsigned transaction', async () => {
      const { owner, cancel, now } = await setUp()
      await cancel({ ...owner.relayer, paused: true })
      expect((await now()).transaction).toMatchObject({ status: 'canceled', nonce: undefined })
    })

    test.each([
      {
        name: 'refuses it',
        answer: { kind: 'refused', refusal: { code: 'fee_above_cap', detail: 'The cap is 5.' } } as const,
        error: { code: 'fee_above_cap', detail: 'The cap is 5.' },
      },
      {
        name: 'needs a setup',
        answer: { kind: 'setup', request: requestOf(), detail: 'It needs an account.' } as const,
        error: {
          code: 'not_supported',
          detail: 'It needs an account. Cancel this transaction and send the new content.',
        },
      },
      {
        name: 'does not answer',
        answer: { kind: 'unknown', detail: 'time-out' } as const,
        error: {
          code: 'network_unavailable',
          detail: 'No node of the network answers, so nothing was changed. Try again.',
          cause: 'time-out',
        },
      },
    ])('of signed content changes nothing when the chain $name', async ({ answer, error }) => {
      const { stub, replace, submit, now } = await setUp()
      await submit()
      const before = await now()
      stub.override = { replace: async () => answer }
      await expect(replace()).rejects.toMatchObject(error)
      expect(await now()).toEqual(before)
    })

    test.each([
      { change: 'replace', purpose: 'request', statusReason: undefined, value: 7n },
      {
        change: 'cancel',
        purpose: 'cancel',
        statusReason: 'Canceled by the caller; a no-op will use its nonce.',
        value: 1n,
      },
    ] as const)(
      'of signed content ($change) shows its purpose and the sentences of the chain',
      async ({ change, purpose, statusReason, value }) => {
        const { stub, submit, now, ...changes } = await setUp()
        await submit()
        const draft = draftOf(legacy(900n), { value: 3n })
        stub.override = {
          replace: async () => ({ kind: 'ok', value: { draft, logs: ['The fee was raised.'] } }),
        }
        const { transaction, attempts, logs } = await changes[change]()
        expect(transaction).toMatchObject({
          status: 'submitted',
          purpose,
          request: { value },
          currentAttempt: 2,
        })
        expect(transaction.statusReason).toBe(statusReason)
        expect(attempts[1]).toMatchObject({ kind: change, outcome: 'broadcast' })
        expect(logs).toEqual(['The fee was raised.'])
        expect(await now()).toEqual({ transaction, attempts })
      },
    )

    test('that no node accepted yet is kept, and the caller is told', async () => {
      const { stub, replace, submit } = await setUp()
      await submit()
      const draft = draftOf(legacy(900n), { value: 7n })
      stub.override = { replace: async () => ({ kind: 'ok', value: { draft, logs: [] } }) }
      stub.answerBroadcast = () => ({ kind: 'later', detail: 'txpool is full' })
      const { transaction, logs } = await replace()
      expect(transaction).toMatchObject({ status: 'sent', currentAttempt: 2 })
      expect(logs).toEqual([
        'Stored and signed, but no node has accepted it yet (txpool is full); the service keeps broadcasting it.',
      ])
    })
  })

  describe('canceling everything that waits', () => {
    test('logs a fault of the service, and tells the caller nothing of it', async () => {
      const { owner, stored } = await setUp()
      const cancelPending = pendingCancelerOf(fixture.context, {
        cancel: async () => {
          throw new TypeError('a secret of the inside')
        },
      })
      const { canceled, failures, remaining } = await cancelPending(
        owner.relayer,
        ACTOR,
        new AbortController().signal,
      )
      expect([canceled, remaining]).toEqual([[], 0])
      expect(failures).toMatchObject([{ id: stored.id, error: { code: 'internal_error' } }])
      expect(JSON.stringify(failures)).not.toContain('secret')
      const lines = fixture.logLines.filter(({ transaction }) => transaction === stored.id)
      expect(lines).toMatchObject([
        {
          level: 'error',
          msg: 'cancellation failed',
          relayer: owner.relayer.id,
          err: { message: 'a secret of the inside' },
        },
      ])
    })

    test('counts one that a concurrent caller canceled, and not one that another change made final', async () => {
      const { owner, stored } = await setUp()
      const [other] = await insert(fixture.context, newTransaction(owner))
      if (!other) throw new Error('nothing was stored')
      const { cancel } = createReplacer(fixture.context)
      const cancelPending = pendingCancelerOf(fixture.context, {
        cancel: async ({ relayer, id }) => {
          const status = id === stored.id ? 'canceled' : 'failed'
          const transaction = id === stored.id ? stored : other
          await fixture.database.db
            .transaction()
            .execute((tx) => saveTransactions(tx, [{ ...transaction, status }]))
          return cancel({ relayer, id, ...CANCELS })
        },
      })
      const result = await cancelPending(owner.relayer, ACTOR, new AbortController().signal)
      expect(result).toMatchObject({
        canceled: [stored.id],
        failures: [{ id: other.id, error: { code: 'transaction_not_replaceable' } }],
        remaining: 0,
      })
    })
  })
})

describe('refuse externally signed', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /** A chain whose content expires, and which takes one transaction of an account at a time, as Stellar. */
  function expiring(
    stub: StubChain,
    hasExpired: Expiry<EvmRequest, EvmDraft>['hasExpired'] = async () => false,
  ) {
    return {
      sequencing: {
        nonces: async (addresses: readonly string[]) => addresses.map(() => stub.nonce),
        maxInFlight: 1,
      },
      blockFinality: undefined,
      expiry: { hasExpired, reSignable: () => true },
    }
  }

  /** What a third party has signed for nonce 5 of theirs; the first node has taken it without a word, the second asks for more. */
  async function setUp({ endsAfterMs }: { endsAfterMs?: number } = {}) {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    stub.nonce = { kind: 'ok', value: 5n }
    stub.override = expiring(stub)
    stub.answerBroadcast = () => ({ kind: 'unknown', detail: 'time-out' })
    const validUntil =
      endsAfterMs === undefined ? {} : { validUntil: new Date(fixture.clock.now() + endsAfterMs) }
    const request = requestOf(validUntil)
    const [stored] = await insert(
      fixture.context,
      newTransaction(owner, { request, sourceAccount: TO, nonce: 5n }),
    )
    if (!stored) throw new Error('nothing was stored')
    const step = async (afterMs: number) => {
      fixture.clock.advance(afterMs)
      await workAccount(fixture.context, owner.relayer.id)
    }
    const memory = createWatchMemory()
    const look = (height: bigint) => {
      stub.head = headAt(height)
      return watchNetwork(fixture.context, { runtime: owner.runtime, relayers: [owner.relayer], memory })
    }
    const now = async () => (await reload(fixture.context, stored)).transaction
    await step(1_000)
    stub.answerBroadcast = () => ({ kind: 'underpriced', detail: 'a fee of at least 400 is expected' })
    await step(1_000)
    expect(await now()).toMatchObject({ status: 'pending', nonce: 5n, sourceAccount: TO })
    const cancel = () =>
      createReplacer(fixture.context).cancel({ relayer: owner.relayer, id: stored.id, ...CANCELS })
    const [hash = ''] = stub.broadcasted
    return { stub, step, look, now, cancel, hash }
  }

  const USED = {
    kind: 'refused',
    refusal: { code: 'invalid_request', detail: 'Its sequence number 5 is used.' },
  } as const

  describe('externally signed content that one node refused', () => {
    test('may be what has used the nonce: the chain is asked before anything is final (I6)', async () => {
      const { stub, step, look, now, hash } = await setUp()
      stub.override = { ...expiring(stub), prepare: async () => USED }
      await step(10_000)
      expect(await now()).toMatchObject({ status: 'sent', nonce: 5n, sourceAccount: TO })
      include(stub, hash, { final: true })
      stub.nonce = { kind: 'ok', value: 6n }
      await look(101n)
      const { status, statusReason } = await now()
      expect([status, statusReason]).toEqual(['confirmed', undefined])
    })

    test('fails when the chain has proved that it is not included, and is not broadcast meanwhile', async () => {
      const { stub, step, look, now } = await setUp()
      stub.override = { ...expiring(stub, async () => true), prepare: async () => USED }
      await step(10_000)
      expect((await now()).status).toBe('sent')
      const { length } = stub.broadcasted
      await step(60_000)
      expect(stub.broadcasted).toHaveLength(length)
      await look(101n)
      expect(await now()).toMatchObject({ status: 'failed', cost: 0n })
    })

    test('expires by the word of the chain, not when its time passes by our clock', async () => {
      const { stub, step, look, now } = await setUp({ endsAfterMs: 5_000 })
      await step(10_000)
      expect(await now()).toMatchObject({ status: 'sent', purpose: 'expire' })
      stub.override = expiring(stub, async () => true)
      await look(101n)
      expect(await now()).toMatchObject({ status: 'expired', cost: 0n })
    })

    test('can be canceled by its signer alone', async () => {
      const { now, cancel } = await setUp()
      await expect(cancel()).rejects.toMatchObject({ code: 'not_supported' })
      expect((await now()).status).toBe('pending')
    })
  })

  describe('an expired transaction', () => {
    test('ends only when the refused attempts have expired as well', async () => {
      const { stub, step, look, now } = await setUp()
      stub.answerBroadcast = () => ({ kind: 'accepted' })
      stub.override = {
        ...expiring(stub, async ({ fees }) => fees.kind === 'legacy'),
        prepare: async ({ value }) => ({
          kind: 'ok',
          value: {
            draft: {
              type: 'evm',
              value,
              data: '0x',
              gasLimit: 21_000n,
              fees: { kind: 'legacy', gasPrice: 400n },
            },
            logs: [],
          },
        }),
      }
      await step(10_000)
      expect((await now()).status).toBe('submitted')
      await look(101n)
      expect((await now()).status).toBe('submitted')
      stub.override = expiring(stub, async () => true)
      await look(102n)
      expect((await now()).status).toBe('expired')
    })
  })
})
