import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../../src/chains/answer.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import {
  findTransaction,
  listTransactions,
  saveTransactions,
} from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { insert, newTransaction, openRoom, type Room, reload } from '../fixture.ts'
import { chainOf, createWorld } from '../world.ts'

let room: Room
beforeAll(async () => {
  room = await openRoom()
})
afterAll(() => room.close())

const TRAITS = {
  nonces: true,
  inFlightPerLine: 1,
  lapses: false,
  finality: 'block',
  unit: 'wei',
  readMethods: [],
} as const
const MISSING = {
  kind: 'refused',
  refusal: { code: 'account_not_found', detail: 'There is no such account.' },
} as const

/** An account with two channels, on a chain that takes one transaction of each line at a time. */
async function place() {
  const world = createWorld()
  const owner = await room.addAccount({ chain: chainOf(world), channels: 2 })
  const [own = '', ...channels] = owner.operator.lines.map(({ address }) => address)
  /** What the chain says to the nonce of an address; 0 when it is not here. */
  const nonces = new Map<string, Answer<bigint>>()
  world.override = {
    traits: TRAITS,
    nonces: async (addresses) => addresses.map((address) => nonces.get(address) ?? { kind: 'ok', value: 0n }),
    openLines: (addresses) => requestOf({ value: 0n, data: `0x${addresses.length}` }),
  }
  // Different amounts: the same content with the same nonce would be the same bytes.
  const accept = async (count: number) =>
    insert(
      room.context,
      ...Array.from({ length: count }, (_, index) =>
        newTransaction(owner, { request: requestOf({ value: BigInt(index + 1) }), nextRunAt: new Date(0) }),
      ),
    )
  const step = async (afterMs = 60_000) => {
    room.clock.advance(afterMs)
    await workAccount(room.context, owner.relayer.id)
  }
  const linesOf = async (transactions: readonly Transaction[]) =>
    Promise.all(
      transactions.map(async (one) => {
        const { transaction, attempts } = await reload(room.context, one)
        expect(attempts.map(({ line }) => line)).toEqual(transaction.line ? [transaction.line] : [])
        return transaction.line
      }),
    )
  const errands = async () => {
    const { items } = await listTransactions(room.context.db, {
      relayerId: owner.relayer.id,
      offset: 0,
      limit: 100,
    })
    return items.map(({ transaction }) => transaction).filter(({ intent }) => intent === 'errand')
  }
  return { world, owner, own, channels, nonces, accept, step, linesOf, errands }
}

describe('several lines', () => {
  test('each take one, and the rest waits for a seat', async () => {
    const { own, channels, accept, step, linesOf } = await place()
    const transactions = await accept(5)
    await step()
    expect(await linesOf(transactions)).toEqual([own, ...channels, undefined, undefined])
    await step()
    expect((await linesOf(transactions)).slice(3)).toEqual([undefined, undefined])
  })

  test('a seat is free again when the chain has decided', async () => {
    const { channels, accept, step, linesOf } = await place()
    const transactions = await accept(4)
    await step()
    const [, second] = transactions
    if (!second) throw new Error('nothing was stored')
    const { transaction } = await reload(room.context, second)
    await room.context.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [{ ...transaction, status: 'mined' }]))
    await step()
    expect((await linesOf(transactions))[3]).toBe(channels[0])
  })

  test('one about which nobody answers takes nothing, and holds nobody up (I6)', async () => {
    const { own, channels, nonces, accept, step, linesOf } = await place()
    nonces.set(channels[0] ?? '', { kind: 'unknown', detail: 'time-out' })
    const transactions = await accept(3)
    await step()
    expect(await linesOf(transactions)).toEqual([own, channels[1], undefined])
  })
})

describe('an errand', () => {
  test('opens the lines that are not there, once, while the others work on', async () => {
    const { own, channels, nonces, accept, step, linesOf, errands } = await place()
    for (const address of channels) nonces.set(address, MISSING)
    const transactions = await accept(2)
    await step()
    expect(await linesOf(transactions)).toEqual([own, undefined])
    await step()
    await step()
    expect(await errands()).toMatchObject([
      { status: 'pending', statusReason: 'Opens 2 channel accounts.', request: { data: '0x2' } },
    ])
  })

  test('goes before everything that waits for it', async () => {
    const { world, owner, own, channels, nonces, accept, step, linesOf, errands } = await place()
    for (const address of channels) nonces.set(address, MISSING)
    const [first, second] = await accept(2)
    if (!first || !second) throw new Error('nothing was stored')
    await step()
    const { transaction } = await reload(room.context, first)
    await room.context.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [{ ...transaction, status: 'mined' }]))
    nonces.set(own, { kind: 'ok', value: 1n })
    await step()
    const [errand] = await errands()
    if (!errand) throw new Error('there is no errand')
    expect(errand).toMatchObject({ status: 'submitted', line: own, nonce: 1n })
    expect(await linesOf([second])).toEqual([undefined])
    const item = await findTransaction(room.context.db, owner.relayer.id, errand.id)
    expect(item?.attempts).toMatchObject([{ kind: 'errand' }])
    expect(world.offered.at(-1)).toBe(item?.attempts[0]?.signed.hash)
  })

  test('that failed is tried again only after a while', async () => {
    const { channels, nonces, accept, step, errands } = await place()
    for (const address of channels) nonces.set(address, MISSING)
    await accept(3)
    await step()
    const [errand] = await errands()
    if (!errand) throw new Error('there is no errand')
    await room.context.db
      .transaction()
      .execute((tx) => saveTransactions(tx, [{ ...errand, status: 'failed' }]))
    await step(59_999)
    expect(await errands()).toHaveLength(1)
    await step(1)
    expect(await errands()).toHaveLength(2)
  })

  test('is of no use while the account itself is not there: everything waits, and says for what', async () => {
    const { world, own, channels, nonces, accept, step, linesOf, errands } = await place()
    for (const address of [own, ...channels]) nonces.set(address, MISSING)
    const transactions = await accept(2)
    await step()
    expect(await linesOf(transactions)).toEqual([undefined, undefined])
    expect(await errands()).toEqual([])
    expect(world.offered).toEqual([])
    const [first] = transactions
    expect(first && (await reload(room.context, first)).transaction.statusReason).toBe(
      'Waiting for funds: There is no such account.',
    )
  })
})
