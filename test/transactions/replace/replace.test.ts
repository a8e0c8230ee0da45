import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../../src/chains/answer.ts'
import type { EvmRequest } from '../../../src/chains/evm/content.ts'
import type { EvmAttempt, EvmPrepared } from '../../../src/chains/evm/types.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { createReplacer } from '../../../src/transactions/replace/replace.ts'
import { saveOutcomes } from '../../../src/transactions/store/attempts-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { draftOf, legacy, requestOf } from '../../chains/evm/build.ts'
import { ACTOR, CANCELS } from '../../support/samples.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, include } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

/** Every replacement pays more than the one before, as a market that follows the pool does. */
const dearer = async (
  { to, value, data = '0x' }: EvmRequest,
  attempts: readonly EvmAttempt[],
): Promise<Answer<EvmPrepared>> => {
  const fees = { kind: 'legacy', gasPrice: 1_000n * BigInt(attempts.length + 1) } as const
  const content = { type: 'evm', value, data, gasLimit: 21_000n, fees } as const
  return { kind: 'ok', value: { draft: to === undefined ? content : { to, ...content }, logs: ['dearer'] } }
}

async function setUp() {
  const stub = createStubChain()
  stub.override = { replace: dearer }
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const replacer = createReplacer(fixture.context)
  const pending = async () => {
    const transaction = newTransaction(owner)
    await insert(fixture.context, transaction)
    fixture.clock.advance(1_000)
    return (await reload(fixture.context, transaction)).transaction
  }
  const submitted = async () => {
    const transaction = await pending()
    await workAccount(fixture.context, owner.relayer.id)
    return (await reload(fixture.context, transaction)).transaction
  }
  const replace = ({ id }: Transaction, value: bigint) =>
    replacer.replace({
      relayer: owner.relayer,
      id,
      request: requestOf({ value, speed: 'fast' }),
      actor: ACTOR,
    })
  const cancel = ({ id }: Transaction) => replacer.cancel({ relayer: owner.relayer, id, ...CANCELS })
  return { stub, owner, replacer, pending, submitted, replace, cancel }
}

describe('a transaction that is not signed', () => {
  test('is replaced without a bump', async () => {
    const { stub, pending, replace } = await setUp()
    const transaction = await pending()
    const { transaction: now, attempts, logs } = await replace(transaction, 7n)
    expect(now).toMatchObject({
      id: transaction.id,
      status: 'pending',
      request: { value: 7n },
      createdAt: transaction.createdAt,
    })
    expect(attempts).toEqual([])
    expect(logs[0]).toContain('Nothing had been signed')
    expect(stub.broadcasted).toEqual([])
  })

  test('is canceled immediately when it has no nonce', async () => {
    const { pending, cancel } = await setUp()
    const { transaction } = await cancel(await pending())
    expect(transaction).toMatchObject({ status: 'canceled', cost: 0n })
  })

  test('leaves its nonce to a no-op when it is canceled', async () => {
    const { stub, owner, pending, cancel } = await setUp()
    const transaction = await pending()
    await fixture.context.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [{ ...transaction, sourceAccount: transaction.from, nonce: 0n }]))
    const canceled = await cancel(transaction)
    expect(canceled.transaction).toMatchObject({ status: 'pending', purpose: 'cancel', nonce: 0n })
    await workAccount(fixture.context, owner.relayer.id)
    const { transaction: now, attempts } = await reload(fixture.context, transaction)
    expect(now).toMatchObject({ status: 'submitted', nonce: 0n, purpose: 'cancel' })
    expect(attempts).toMatchObject([{ kind: 'cancel', draft: { to: owner.relayer.address, value: 0n } }])
    expect(stub.broadcasted).toHaveLength(1)
  })
})

describe('a transaction that was broadcast', () => {
  test('gets another attempt with its nonce, which is signed, stored and broadcast before the answer', async () => {
    const { stub, submitted, replace } = await setUp()
    const before = await submitted()
    const { transaction, attempts } = await replace(before, 7n)
    expect(transaction).toMatchObject({ status: 'submitted', nonce: before.nonce, currentAttempt: 2 })
    expect(attempts.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
      'send broadcast',
      'replace broadcast',
    ])
    expect(stub.broadcasted.at(-1)).toBe(attempts[1]?.signed.hash)
  })

  test('gets changes at the same time one after the other, and loses none', async () => {
    const { stub, submitted, replace } = await setUp()
    const before = await submitted()
    const values = [1n, 2n, 3n, 4n, 5n].map((value) => value * 11n)
    await Promise.all(values.map((value) => replace(before, value)))
    const { transaction, attempts } = await reload(fixture.context, before)
    expect(attempts.slice(1)).toMatchObject(values.map((value) => ({ draft: { value } })))
    expect(new Set(stub.broadcasted).size).toBe(6)
    expect(transaction).toMatchObject({ currentAttempt: 6, nonce: before.nonce, request: { value: 55n } })
  })

  test('does not lose a change when a worker writes the record meanwhile', async () => {
    const { stub, submitted, replace } = await setUp()
    const before = await submitted()
    let raced = false
    stub.override = {
      replace: async (request, earlier) => {
        if (!raced) {
          raced = true
          const { transaction } = await reload(fixture.context, before)
          await fixture.context.db
            .transaction()
            .execute((tx) => saveTransactions(tx, [{ ...transaction, statusReason: 'raced' }]))
        }
        return dearer(request, earlier)
      },
    }
    const { transaction, attempts } = await replace(before, 7n)
    expect(transaction).toMatchObject({ currentAttempt: 2, request: { value: 7n } })
    expect(attempts).toHaveLength(2)
  })

  test('is canceled by a no-op to itself, once even if that is asked for twice', async () => {
    const { stub, owner, submitted, cancel } = await setUp()
    const before = await submitted()
    const [, second] = await Promise.all([cancel(before), cancel(before)])
    expect(second.logs).toEqual(['The cancellation is already running.'])
    const { transaction, attempts } = await reload(fixture.context, before)
    expect(transaction).toMatchObject({ status: 'submitted', purpose: 'cancel' })
    expect(attempts.map(({ kind }) => kind)).toEqual(['send', 'cancel'])
    expect(attempts[1]?.draft).toMatchObject({ to: owner.relayer.address, value: 0n, data: '0x' })
    expect(stub.broadcasted).toHaveLength(2)
  })
})

describe('a change with an obstacle', () => {
  test.each(['mined', 'confirmed', 'failed', 'canceled', 'expired'] as const)(
    'is refused for a transaction that is %s, and nothing changes',
    async (status) => {
      const { pending, replace, cancel } = await setUp()
      const transaction = await pending()
      await fixture.context.db
        .transaction()
        .execute((tx) => saveTransactions(tx, [{ ...transaction, status }]))
      for (const change of [replace(transaction, 7n), cancel(transaction)]) {
        await expect(change).rejects.toMatchObject({ code: 'transaction_not_replaceable' })
      }
      expect((await reload(fixture.context, transaction)).transaction).toMatchObject({
        status,
        request: transaction.request,
      })
    },
  )

  test('is refused for a transaction of another relayer, as if that did not exist (R24)', async () => {
    const [one, other] = [await setUp(), await setUp()]
    const externallySigned = await other.submitted()
    for (const change of [one.replace(externallySigned, 7n), one.cancel(externallySigned)]) {
      await expect(change).rejects.toMatchObject({ code: 'transaction_not_found' })
    }
    expect((await reload(fixture.context, externallySigned)).attempts).toHaveLength(1)
  })

  test.each(['underpriced', 'refused', 'too_cheap', 'too_dear', 'gas_limit'] as const)(
    'leaves the record as it was when the node says %s, and the caller is told',
    async (kind) => {
      const { stub, submitted, replace } = await setUp()
      const before = await submitted()
      stub.answerBroadcast = () => ({ kind, detail: 'words of the node' })
      await expect(replace(before, 7n)).rejects.toMatchObject({
        code: 'replacement_underpriced',
        detail: expect.stringContaining('words of the node'),
      })
      const { transaction, attempts } = await reload(fixture.context, before)
      const { request, purpose, cost, nonce } = before
      expect(transaction).toMatchObject({
        status: 'submitted',
        currentAttempt: 1,
        request,
        purpose,
        cost,
        nonce,
      })
      expect(attempts.map(({ outcome }) => outcome)).toEqual(['broadcast', 'refused'])
    },
  )

  test('is refused immediately when a node refused the very bytes before, and nothing is stored again', async () => {
    const { stub, submitted, replace } = await setUp()
    const before = await submitted()
    const fees = { kind: 'legacy', gasPrice: 7_000n } as const
    stub.override = {
      replace: async ({ value }) => ({
        kind: 'ok',
        value: { draft: { type: 'evm', value, data: '0x', gasLimit: 21_000n, fees }, logs: [] },
      }),
    }
    stub.answerBroadcast = () => ({ kind: 'refused', detail: 'words of the node' })
    await expect(replace(before, 7n)).rejects.toMatchObject({ code: 'replacement_underpriced' })
    await expect(replace(before, 7n)).rejects.toMatchObject({
      code: 'replacement_underpriced',
      detail: 'The same bytes were refused before: words of the node.',
    })
    expect((await reload(fixture.context, before)).attempts).toHaveLength(2)
  })

  test('stays when one endpoint refuses it and another, which may have accepted it, does not answer', async () => {
    const { stub, submitted, replace } = await setUp()
    const before = await submitted()
    stub.answerBroadcast = () => ({ kind: 'too_dear', detail: 'words of the node', unanswered: true })
    const { transaction, attempts } = await replace(before, 7n)
    expect(transaction).toMatchObject({ currentAttempt: 2, request: { value: 7n } })
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['broadcast', 'signed'])
  })

  test.each([
    { kind: 'underpriced', raised: 'broadcast' },
    { kind: 'refused', raised: 'broadcast' },
    { kind: 'underpriced', raised: 'mined' },
  ] as const)(
    'happens although the node says $kind, when a worker was faster and the raised fee is $raised',
    async ({ kind, raised }) => {
      const { stub, owner, submitted, replace } = await setUp()
      const before = await submitted()
      const overtaken = { kind, detail: 'replacement transaction underpriced' } as const
      stub.override = {
        replace: dearer,
        broadcast: async (raws) => {
          stub.override = { feeBump: { speedUp: (attempts) => dearer(requestOf({ value: 7n }), attempts) } }
          for (const wait of [60_000, 600_000]) {
            fixture.clock.advance(wait)
            await workAccount(fixture.context, owner.relayer.id)
          }
          await fixture.context.db
            .transaction()
            .execute((tx) => saveOutcomes(tx, [{ transactionId: before.id, number: 3, outcome: raised }]))
          return raws.map(() => overtaken)
        },
      }
      await replace(before, 7n)
      const { transaction, attempts } = await reload(fixture.context, before)
      expect(attempts.map((attempt) => attempt.kind)).toEqual(['send', 'replace', 'speed_up'])
      expect(transaction).toMatchObject({ status: 'submitted', currentAttempt: 3, request: { value: 7n } })
    },
  )

  test('is stored, reported, and broadcast again later when the node does not answer (I6)', async () => {
    const { stub, owner, submitted, replace } = await setUp()
    const before = await submitted()
    stub.answerBroadcast = () => ({ kind: 'unknown', detail: 'time-out' })
    const { transaction, logs } = await replace(before, 7n)
    expect(transaction).toMatchObject({ status: 'sent', currentAttempt: 2, request: { value: 7n } })
    expect(logs.at(-1)).toContain('no node has accepted it yet (time-out)')
    stub.answerBroadcast = () => ({ kind: 'accepted' })
    fixture.clock.advance(1_000)
    await workAccount(fixture.context, owner.relayer.id)
    expect((await reload(fixture.context, before)).transaction).toMatchObject({
      status: 'submitted',
      currentAttempt: 2,
    })
  })

  test('fails and changes nothing when no node tells prices', async () => {
    const { stub, submitted, replace } = await setUp()
    const before = await submitted()
    stub.override = { replace: async () => ({ kind: 'unknown', detail: 'time-out' }) }
    await expect(replace(before, 7n)).rejects.toMatchObject({ code: 'network_unavailable' })
    expect((await reload(fixture.context, before)).attempts).toHaveLength(1)
  })

  test('is refused when an earlier attempt was mined meanwhile, and the chain decides (R9)', async () => {
    const { stub, submitted, replace } = await setUp()
    const before = await submitted()
    const [hash] = stub.broadcasted
    if (!hash) throw new Error('nothing was offered')
    include(stub, hash)
    stub.answerBroadcast = () => ({ kind: 'nonce_used', detail: 'nonce too low' })
    await expect(replace(before, 7n)).rejects.toMatchObject({
      code: 'transaction_not_replaceable',
    })
    expect((await reload(fixture.context, before)).attempts).toHaveLength(2)
  })

  test('happens when its own bytes were mined under the hash of the earlier content', async () => {
    const { stub, submitted, replace } = await setUp()
    const before = await submitted()
    const [first] = stub.broadcasted
    if (!first) throw new Error('nothing was offered')
    stub.answerBroadcast = (hash) => {
      include(stub, first, { result: { appliedHash: hash } })
      return { kind: 'nonce_used', detail: 'nonce too low' }
    }
    expect((await replace(before, 7n)).attempts).toHaveLength(2)
  })

  test('is refused before anything is signed when a block includes its content already', async () => {
    const { stub, submitted, replace } = await setUp()
    const before = await submitted()
    const value = { draft: draftOf(legacy(1_000n)), logs: [], included: 'Block 9 includes it.' }
    stub.override = { replace: async () => ({ kind: 'ok', value }) }
    await expect(replace(before, 7n)).rejects.toMatchObject({
      code: 'invalid_request',
      detail: value.included,
    })
    expect((await reload(fixture.context, before)).attempts).toHaveLength(1)
  })

  test('is refused before anything is signed when it costs more than the account holds', async () => {
    const { stub, submitted, replace } = await setUp()
    const before = await submitted()
    await expect(replace(before, 10n ** 20n)).rejects.toMatchObject({ code: 'insufficient_balance' })
    expect(stub.broadcasted).toHaveLength(1)
    expect((await reload(fixture.context, before)).attempts).toHaveLength(1)
  })
})

describe('on a chain where the earlier content has to expire first', () => {
  const detail = 'Both could be included, so the new content waits.'

  test.each([
    { name: 'a replacement', purpose: 'successor', value: 7n },
    { name: 'a cancellation', purpose: 'cancel', value: undefined },
  ])('$name is kept, and nothing is signed or broadcast', async ({ purpose, value }) => {
    const { stub, submitted, replace, cancel } = await setUp()
    const before = await submitted()
    stub.override = { replace: async () => ({ kind: 'after_expiry', detail }) as never }
    const count = stub.broadcasted.length
    const { transaction, attempts, logs } =
      value === undefined ? await cancel(before) : await replace(before, value)
    expect(transaction).toMatchObject({
      status: 'submitted',
      purpose,
      statusReason: detail,
      nextRunAt: new Date(fixture.clock.now() + 240_000),
      ...(value === undefined ? {} : { request: { value } }),
    })
    expect(attempts).toHaveLength(1)
    expect(logs).toEqual([detail])
    expect(stub.broadcasted).toHaveLength(count)
  })

  test('a cancellation that is kept can be replaced all the same', async () => {
    const { stub, submitted, replace, cancel } = await setUp()
    const before = await submitted()
    stub.override = { replace: async () => ({ kind: 'after_expiry', detail }) as never }
    await cancel(before)
    expect((await cancel(before)).logs).toEqual(['The cancellation is already running.'])
    const { transaction } = await replace(before, 9n)
    expect(transaction).toMatchObject({ purpose: 'successor', request: { value: 9n } })
  })
})
