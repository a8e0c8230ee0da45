import { Account, Asset, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'
import {
  keypairOf,
  payment,
  RECEIVER as STELLAR_RECEIVER,
  type StellarScenario,
  startStellarScenario,
  XLM,
} from '../../support/stellar-scenario.ts'

describe('on EVM', () => {
  type Outcome = Schemas['PendingCancellation']

  /** The most that a unit of gas may cost, in wei. */
  const CAP = 100_000_000_000

  /** With two in flight the others wait unsigned. */
  let story: Scenario

  beforeAll(async () => {
    story = await startScenario({ env: { RELAYER_MAX_IN_FLIGHT: '2' }, policies: { gas_price_cap: CAP } })
  })
  afterEach(() => story.settle())
  afterAll(() => story.stop())

  const deletePending = (relayer = 'main') =>
    story.service.api<Outcome>('DELETE', `/relayers/${relayer}/transactions/pending`)

  /** Two in the pool and three behind them, oldest first. */
  async function fiveOpen(): Promise<string[]> {
    const ids: string[] = []
    for (let value = 1; value <= 5; value += 1) ids.push((await story.send({ to: RECEIVER, value })).id)
    await Promise.all(ids.slice(0, 2).map((id) => story.reach(id, 'submitted')))
    return ids
  }

  test('DELETE …/transactions/{id}?unsigned_only=true cancels what is not signed, and leaves what is', async () => {
    const ids = await fiveOpen()
    const [signed = '', , unsigned = ''] = ids
    const cancel = (id: string) =>
      story.service.api('DELETE', `/relayers/main/transactions/${id}?unsigned_only=true`)
    expect(await cancel(signed)).toMatchObject({
      status: 400,
      body: { code: 'transaction_not_replaceable', error: expect.stringContaining('unsigned_only') },
    })
    expect((await cancel(unsigned)).body.data).toMatchObject({ status: 'canceled', attempts: [] })
    await story.settle()
    expect(await story.get(signed)).toMatchObject({ status: 'confirmed', attempts: [{ kind: 'send' }] })
  })

  describe('DELETE …/transactions/pending', () => {
    test('cancels everything, newest first, and the chain moves no money', async () => {
      const before = await story.anvil.rpc<string>('eth_getBalance', [RECEIVER, 'latest'])
      const ids = await fiveOpen()
      const { status, body } = await deletePending()
      expect({ status, data: body.data }).toEqual({
        status: 200,
        data: {
          queued_for_cancellation_transaction_ids: ids.toReversed(),
          failed_to_queue_transaction_ids: [],
          failures: [],
          total_processed: 5,
          remaining: 0,
        },
      })
      await story.settle()
      const ended = await Promise.all(ids.map((id) => story.get(id)))
      expect(ended.map(({ status }) => status)).toEqual(Array(5).fill('canceled'))
      expect(ended.map(({ attempts }) => attempts.map(({ kind }) => kind))).toEqual([
        ['send', 'cancel'],
        ['send', 'cancel'],
        [],
        [],
        [],
      ])
      expect(await story.anvil.rpc('eth_getBalance', [RECEIVER, 'latest'])).toBe(before)
      for (const { nonce = 0n, hash } of ended.slice(0, 2))
        expect(await story.minedHash(DEV_ADDRESSES[0], nonce)).toBe(hash)
    })

    test('does nothing twice when it is repeated', async () => {
      const ids = await fiveOpen()
      await deletePending()
      const attempts = async () => (await Promise.all(ids.map(story.get))).map((one) => one.attempts.length)
      const before = await attempts()
      const { body } = await deletePending()
      expect(body.data).toMatchObject({ queued_for_cancellation_transaction_ids: [], total_processed: 0 })
      expect(await attempts()).toEqual(before)
    })

    test('cancels each transaction and calls none a failure when several callers ask at the same time', async () => {
      const ids = await fiveOpen()
      const answers = await Promise.all(Array.from({ length: 4 }, () => deletePending()))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect(answers.flatMap(({ body }) => body.data.failures)).toEqual([])
      const queued = answers.flatMap(({ body }) => body.data.queued_for_cancellation_transaction_ids)
      expect(new Set(queued)).toEqual(new Set(ids))
      await story.settle()
      for (const id of ids) {
        const { status, attempts } = await story.get(id)
        expect(status).toBe('canceled')
        expect(attempts.filter(({ kind }) => kind === 'cancel').length).toBeLessThanOrEqual(1)
      }
    })

    test('a failed cancellation has its reason, and stops none of the others', async () => {
      // A no-op in its place would have to pay more than the cap.
      const dear = await story.send({ to: RECEIVER, value: 1, gas_price: CAP })
      await story.reach(dear.id, 'submitted')
      const plain = await story.send({ to: RECEIVER, value: 2 })
      await story.reach(plain.id, 'submitted')
      const { status, body } = await deletePending()
      expect(status).toBe(200)
      expect(body.data).toMatchObject({
        queued_for_cancellation_transaction_ids: [plain.id],
        failed_to_queue_transaction_ids: [dear.id],
        total_processed: 2,
      })
      expect(body.data.failures[0]).toMatchObject({ transaction_id: dear.id, code: 'gas_price_above_cap' })
      await story.settle()
      expect((await story.get(dear.id)).status).toBe('confirmed')
      expect((await story.get(plain.id)).status).toBe('canceled')
    })

    test('leaves another relayer alone', async () => {
      const [id = ''] = await fiveOpen()
      expect((await deletePending('other')).body.data.total_processed).toBe(0)
      expect((await story.get(id)).status).toBe('submitted')
    })

    test('an unknown relayer is Not found', async () => {
      const { status, body } = await deletePending('nobody')
      expect({ status, code: body.code }).toEqual({ status: 404, code: 'relayer_not_found' })
    })
  })
})

describe('on Stellar', () => {
  /** Someone who signs for an own sequence number and lets the relayer pay. */
  const GUEST = keypairOf('guest')

  let story: StellarScenario

  beforeAll(async () => {
    story = await startStellarScenario()
    story.ledger.fund(GUEST.publicKey(), 100n * XLM)
  })
  afterAll(() => story.stop())

  test('DELETE …/transactions/pending: each with its honest outcome', async () => {
    const before = story.ledger.account(STELLAR_RECEIVER)?.balance
    const first = await story.send(payment(XLM))
    await story.reach(first.id, 'submitted')
    const behind = await story.send(payment(2n * XLM))
    const externallySigned = await story.send({
      network: 'standalone',
      transaction_xdr: guestPays(),
      fee_bump: true,
    })
    await story.reach(externallySigned.id, 'submitted')

    const { status, body } = await story.service.api<Schemas['PendingCancellation']>(
      'DELETE',
      '/relayers/main/transactions/pending',
    )
    expect({ status, data: body.data }).toMatchObject({
      status: 200,
      data: {
        queued_for_cancellation_transaction_ids: [behind.id, first.id],
        failed_to_queue_transaction_ids: [externallySigned.id],
        failures: [{ transaction_id: externallySigned.id, code: 'not_supported' }],
        total_processed: 3,
        remaining: 0,
      },
    })
    for (const { id } of [first, behind]) await story.closeUntil(id, 'canceled')
    await story.closeUntil(externallySigned.id, 'confirmed')
    expect(story.ledger.account(STELLAR_RECEIVER)?.balance).toBe((before ?? 0n) + XLM)
  })

  /** A lumen from the guest to the receiver, signed by the guest. */
  function guestPays(): string {
    const { sequence } = story.ledger.account(GUEST.publicKey()) ?? { sequence: 0n }
    const transaction = new TransactionBuilder(new Account(GUEST.publicKey(), String(sequence)), {
      fee: '100',
      networkPassphrase: story.ledger.passphrase,
    })
      .addOperation(Operation.payment({ destination: STELLAR_RECEIVER, asset: Asset.native(), amount: '1' }))
      .setTimebounds(0, (story.ledger.ledgers.at(-1)?.closeTime ?? 0) + 300)
      .build()
    transaction.sign(GUEST)
    return transaction.toXDR()
  }
})
