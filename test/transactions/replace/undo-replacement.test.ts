import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BroadcastResult } from '../../../src/chains/answer.ts'
import type { EvmAttempt } from '../../../src/chains/evm/types.ts'
import type { Transaction, TransactionWithAttempts } from '../../../src/transactions/model/transaction.ts'
import { undoIfRefused } from '../../../src/transactions/replace/undo-replacement.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { attemptOf, eip1559, requestOf } from '../../chains/evm/build.ts'
import { CANCELS } from '../../support/samples.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, include } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

interface Situation {
  /** The status before the change. */
  readonly from?: 'sent' | 'submitted'
  /** The fields that differ from those that the change gave: what a worker or the chain did meanwhile. */
  readonly now?: Partial<Transaction>
  /** Attempts after the second, which is the one of the change. */
  readonly later?: readonly Partial<EvmAttempt>[]
}

let hashes = 0

/** A transaction whose content of 1 wei was replaced by content of 7 wei, as its second attempt. */
async function replaced({ from = 'submitted', now = {}, later = [] }: Situation = {}) {
  const stub = createStubChain()
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const attempts = [{}, { kind: 'replace', outcome: 'signed' } as const, ...later].map((change, index) => {
    const attempt = attemptOf(eip1559(10n, 1n), { number: index + 1, ...change })
    hashes += 1
    return { ...attempt, signed: { ...attempt.signed, hash: `0xundone${hashes}` } }
  })
  const [inserted] = await insert(
    fixture.context,
    newTransaction(owner, { nonce: 0n, status: from, cost: 11n, statusReason: 'The reason before.' }),
  )
  if (!inserted) throw new Error('nothing was stored')
  const save = async (transaction: Transaction) => {
    const [saved] = await fixture.database.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [transaction]))
    if (!saved) throw new Error('nothing was changed')
    return saved
  }
  const before = await save({ ...inserted, currentAttempt: 1 })
  await fixture.database.db.transaction().execute((tx) =>
    insertAttempts(
      tx,
      attempts.map((attempt) => ({ transactionId: inserted.id, attempt })),
    ),
  )
  await save({
    ...before,
    status: 'sent',
    request: requestOf({ value: 7n }),
    purpose: 'cancel',
    statusReason: 'The reason of the change.',
    cost: 22n,
    currentAttempt: 2,
    ...now,
  })
  const [first, second] = attempts
  if (!first || !second) throw new Error('there are two attempts')
  const item: TransactionWithAttempts = { transaction: before, attempts: [first] }
  const undo = (result: BroadcastResult, context = fixture.context) =>
    undoIfRefused(context, {
      change: { relayer: owner.relayer, id: before.id, ...CANCELS },
      before: item,
      number: 2,
      hash: second.signed.hash,
      result,
    })
  return { stub, owner, before, first, second, undo, save, now: () => reload(fixture.context, before) }
}

const REFUSED = { kind: 'refused', detail: 'words of the node' } as const
const LATE = { kind: 'nonce_used', detail: 'nonce too low' } as const

describe('a change that the nodes refuse', () => {
  test.each(['underpriced', 'too_cheap', 'too_dear', 'gas_limit', 'refused'] as const)(
    'as %s is undone, and the caller is told',
    async (kind) => {
      const { before, undo, now } = await replaced()
      await expect(undo({ kind, detail: 'words of the node' })).rejects.toMatchObject({
        code: 'replacement_underpriced',
        detail:
          'The node refused the replacement: words of the node. The earlier version counts again. If a node accepted the refused bytes after all, a block can still include them, and the record then says so.',
      })
      const { transaction, attempts } = await now()
      expect(transaction).toEqual({
        ...before,
        version: before.version + 2,
        statusReason: 'Attempt 2 was refused by the node (words of the node); attempt 1 still counts.',
      })
      expect(attempts.map(({ outcome, error }) => [outcome, error])).toEqual([
        ['broadcast', undefined],
        ['refused', 'words of the node'],
      ])
    },
  )

  test.each<[string, BroadcastResult]>([
    ['is accepted', { kind: 'accepted' }],
    ['cannot be accepted now', { kind: 'later', detail: 'txpool is full' }],
    ['has no answer', { kind: 'unknown', detail: 'time-out' }],
    ['is refused by one endpoint while another does not answer', { ...REFUSED, unanswered: true }],
    ['comes when the nonce is used, and no earlier attempt is included', LATE],
  ])('stays when it %s', async (_name, result) => {
    const { undo, now } = await replaced()
    await undo(result)
    const { transaction, attempts } = await now()
    expect(transaction).toMatchObject({ currentAttempt: 2, purpose: 'cancel', cost: 22n })
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['broadcast', 'signed'])
  })
})

describe('what happened meanwhile', () => {
  test.each<[string, Situation, Partial<Transaction>]>([
    ['nothing, and no node had accepted it before: it is sent', { from: 'sent' }, { status: 'sent' }],
    ['nothing, and a node had accepted it before: it is submitted', {}, { status: 'submitted' }],
    [
      'a node accepted it: it stays submitted',
      { from: 'sent', now: { status: 'submitted' } },
      { status: 'submitted' },
    ],
    [
      'an earlier attempt counts again: its reason stays',
      { now: { currentAttempt: 1, status: 'submitted', statusReason: 'Newer.' } },
      { currentAttempt: 1, statusReason: 'Newer.', cost: 11n },
    ],
    [
      'a block included the earlier attempt: the chain has decided',
      {
        now: {
          currentAttempt: 1,
          status: 'mined',
          cost: 0n,
          block: { number: 9n, hash: '0x9' },
          statusReason: 'Mined.',
        },
      },
      {
        currentAttempt: 1,
        status: 'mined',
        cost: 0n,
        block: { number: 9n, hash: '0x9' },
        statusReason: 'Mined.',
      },
    ],
    [
      'a higher fee was refused, too',
      { later: [{ kind: 'speed_up', outcome: 'refused' }] },
      {
        currentAttempt: 1,
        status: 'submitted',
        statusReason: 'Attempt 2 was refused by the node (words of the node); attempt 1 still counts.',
      },
    ],
  ])('%s', async (_name, situation, want) => {
    const { before, undo, now } = await replaced(situation)
    await expect(undo(REFUSED)).rejects.toMatchObject({ code: 'replacement_underpriced' })
    const { transaction, attempts } = await now()
    expect(transaction).toMatchObject({ request: before.request, purpose: 'request', ...want })
    expect(attempts[1]?.outcome).toBe('refused')
  })

  test.each<[string, Situation]>([
    [
      'a block included the change',
      { now: { status: 'mined', block: { number: 9n, hash: '0x9' }, cost: 0n } },
    ],
    ['a worker raised the fee of the change', { later: [{ kind: 'speed_up', outcome: 'signed' }] }],
  ])('%s: it did happen, so it stays', async (_name, situation) => {
    const { undo, now } = await replaced(situation)
    const before = await now()
    await undo(REFUSED)
    expect(await now()).toEqual(before)
  })
})

describe('a change that came too late', () => {
  test('is undone, and the caller is told', async () => {
    const { stub, before, first, undo, now } = await replaced()
    include(stub, first.signed.hash)
    await expect(undo(LATE)).rejects.toMatchObject({
      code: 'transaction_not_replaceable',
      detail: 'An earlier attempt has since been included in a block; the replacement came too late.',
    })
    const { transaction, attempts } = await now()
    // Who canceled while the change was under way was told so, and learns from this what became of it.
    expect(transaction).toEqual({
      ...before,
      version: before.version + 2,
      statusReason: 'Attempt 2 was refused by the node (nonce too low); attempt 1 still counts.',
    })
    expect(attempts[1]).toMatchObject({ outcome: 'refused', error: 'nonce too low' })
  })

  test.each<[string, string]>([
    ['in the bytes of the change', 'second'],
    ['in its own bytes', 'first'],
  ])('is undone, or not, when the earlier content was included %s', async (_name, applied) => {
    const { stub, first, second, undo } = await replaced()
    const appliedHash = (applied === 'first' ? first : second).signed.hash
    include(stub, first.signed.hash, { result: { appliedHash } })
    if (applied === 'second') await undo(LATE)
    else await expect(undo(LATE)).rejects.toMatchObject({ code: 'transaction_not_replaceable' })
  })

  test('stays when the change itself is in the block', async () => {
    const { stub, second, undo, now } = await replaced({
      now: { status: 'mined', block: { number: 9n, hash: '0x9' } },
    })
    include(stub, second.signed.hash)
    const before = await now()
    await undo(LATE)
    expect(await now()).toEqual(before)
  })

  test('stays when the record shows its block, whatever the receipt of an earlier attempt says', async () => {
    const { stub, first, undo, now } = await replaced({
      now: { status: 'mined', block: { number: 9n, hash: '0x9' } },
    })
    include(stub, first.signed.hash)
    await undo(LATE)
    expect((await now()).transaction).toMatchObject({ currentAttempt: 2, status: 'mined' })
  })
})

describe('a record that changes while the change is undone', () => {
  /** Another writer changes the record after each read, this many times. */
  function racing(times: number, change: () => Promise<unknown>) {
    let left = times
    const { db } = fixture.database
    const racingDb = new Proxy(db, {
      get(target, key) {
        if (key !== 'transaction') return Reflect.get(target, key).bind(target)
        return () => ({
          execute: async (run: Parameters<ReturnType<typeof db.transaction>['execute']>[0]) => {
            if (left > 0) {
              left -= 1
              await change()
            }
            return target.transaction().execute(run)
          },
        })
      },
    })
    return { ...fixture.context, db: racingDb }
  }

  test.each([1, 19])('is read again, %i times', async (times) => {
    const { undo, save, now } = await replaced()
    const change = async () => save((await now()).transaction)
    await expect(undo(REFUSED, racing(times, change))).rejects.toMatchObject({
      code: 'replacement_underpriced',
    })
    expect((await now()).transaction).toMatchObject({ currentAttempt: 1, status: 'submitted', cost: 11n })
  })

  test('is given up after twenty times, and nothing is half undone', async () => {
    const { before, undo, save, now } = await replaced()
    const change = async () => save((await now()).transaction)
    await expect(undo(REFUSED, racing(20, change))).rejects.toThrow(
      `transaction ${before.id} changed 20 times while it was being restored after a change`,
    )
    const { transaction, attempts } = await now()
    expect(transaction).toMatchObject({ currentAttempt: 2, cost: 22n })
    expect(attempts[1]?.outcome).toBe('signed')
  })
})
