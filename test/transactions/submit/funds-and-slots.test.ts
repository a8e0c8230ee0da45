import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../../src/chains/answer.ts'
import type { Sequencing } from '../../../src/chains/capabilities.ts'
import type { LeasedAccount } from '../../../src/transactions/model/runtime.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { measureInFlight } from '../../../src/transactions/store/due-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import {
  affordable,
  measureCapacity,
  measureHeadroom,
  type Ready,
} from '../../../src/transactions/submit/capacity.ts'
import { draftOf, legacy, requestOf, TO } from '../../chains/evm/build.ts'
import { type Fixture, insert, leaseOf, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('funds and slots', () => {
  const LIMIT = 6

  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture({ maxInFlight: LIMIT })
  })
  afterAll(() => fixture.close())

  async function setUp(channels = 0) {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub), channels })
    const lease = await leaseOf(fixture.context, owner)
    const leased = { relayer: owner.relayer, runtime: owner.runtime, lease }
    const addresses = owner.runtime.sourceAccounts.map(({ address }) => address)
    return { stub, owner, leased, addresses }
  }

  async function headroom(leased: LeasedAccount, pending: readonly Transaction[]) {
    const inFlight = await measureInFlight(fixture.context.db, leased.relayer.id)
    return measureHeadroom(fixture.context, leased, { inFlight, pending })
  }

  describe('the money of an account', () => {
    /** The content of each costs as many wei as its value, and no gas. */
    async function pay(
      balance: Answer<bigint>,
      { reserved, wanted }: { reserved: bigint; wanted: readonly (readonly [bigint, bigint?])[] },
    ) {
      const { stub, owner, leased } = await setUp()
      stub.balance = balance
      await insert(
        fixture.context,
        newTransaction(owner, { status: 'sent', cost: reserved }),
        newTransaction(owner, { status: 'pending', cost: 1_000n }),
      )
      const ready: Ready[] = wanted.map(([value, nonce]) => ({
        transaction: newTransaction(owner, nonce === undefined ? {} : { nonce }),
        prepared: { draft: draftOf(legacy(0n), { value }), logs: [] },
      }))
      const { reserved: inFlight } = await headroom(leased, [])
      const { ready: paid, short } = await affordable(leased, ready, inFlight)
      return { ready, paid, short }
    }

    const has = (value: bigint): Answer<bigint> => ({ kind: 'ok', value })

    test('pays in order, up to exactly the unreserved balance in flight', async () => {
      const { ready, paid, short } = await pay(has(100n), { reserved: 40n, wanted: [[10n], [50n]] })
      expect(paid).toEqual(ready)
      expect(short).toBeUndefined()
    })

    test('stops at the first that it cannot pay, and none overtakes it', async () => {
      const { ready, paid, short } = await pay(has(100n), { reserved: 40n, wanted: [[10n], [51n], [1n]] })
      expect(paid).toEqual(ready.slice(0, 1))
      expect(short).toEqual({
        transaction: ready[1]?.transaction,
        reason:
          'Waiting for funds: up to 51 wei are needed, 50 of 100 are not reserved for transactions in flight.',
      })
    })

    test('pays for what closes a nonce in any case, and the next one waits for what that costs', async () => {
      const { ready, paid, short } = await pay(has(10n), { reserved: 5n, wanted: [[100n, 3n], [1n]] })
      expect(paid).toEqual(ready.slice(0, 1))
      expect(short?.reason).toBe(
        'Waiting for funds: up to 1 wei are needed, 0 of 10 are not reserved for transactions in flight.',
      )
    })

    test.each<[string, Answer<bigint>]>([
      ['no endpoint answers', { kind: 'unknown', detail: 'time-out' }],
      [
        'the endpoint refuses',
        { kind: 'refused', refusal: { code: 'account_not_found', detail: 'It is new.' } },
      ],
    ])('stops nothing where %s (I6)', async (_name, balance) => {
      const { ready, paid, short } = await pay(balance, { reserved: 5n, wanted: [[100n], [1n]] })
      expect(paid).toEqual(ready)
      expect(short).toBeUndefined()
    })
  })

  describe('the free slots of a source account', () => {
    const inFlight = (change: Partial<Transaction>) => ({ status: 'submitted', ...change }) as const

    test('are the limit minus the transactions in flight and those with a nonce', async () => {
      const { owner, leased, addresses } = await setUp(2)
      const [own = '', channel = '', unused = ''] = addresses
      await insert(
        fixture.context,
        newTransaction(owner, inFlight({ nonce: 0n })),
        newTransaction(owner, inFlight({ nonce: 1n, status: 'sent' })),
        newTransaction(owner, inFlight({ nonce: 2n, status: 'mined' })),
        newTransaction(owner, inFlight({ nonce: 0n, sourceAccount: channel })),
      )
      const pending = [
        newTransaction(owner, { nonce: 3n }),
        newTransaction(owner, { nonce: 1n, sourceAccount: channel }),
        newTransaction(owner, { nonce: 9n, sourceAccount: TO }),
        newTransaction(owner),
        newTransaction(owner, { sourceAccount: own }),
      ]
      const { slots } = await headroom(leased, pending)
      expect([...slots]).toEqual([
        [own, LIMIT - 3],
        [channel, LIMIT - 2],
        [unused, LIMIT],
      ])
    })

    test.each<[string, Partial<Sequencing>, number]>([
      ['of the service', {}, LIMIT],
      ['of the chain', { maxInFlight: 3 }, 3],
      ['of the address, when it is lower', { inFlightLimit: async () => 1 }, 1],
      ['of the service, when that of the address is higher', { inFlightLimit: async () => 50 }, LIMIT],
      ['of the service, when the address has none', { inFlightLimit: async () => undefined }, LIMIT],
      [
        'of the chain, when the address has none',
        { maxInFlight: 2, inFlightLimit: async () => undefined },
        2,
      ],
    ])('follow the limit %s', async (_name, change, want) => {
      const { stub, leased, addresses } = await setUp()
      const { sequencing } = chainOf(createStubChain())
      if (!sequencing) throw new Error('the chain has nonces')
      stub.override = { sequencing: { ...sequencing, ...change } }
      const { slots } = await headroom(leased, [])
      expect([...slots]).toEqual([[addresses[0], want]])
    })

    test('are never less than none', async () => {
      const { stub, owner, leased } = await setUp()
      stub.override = { sequencing: { nonces: async () => [], maxInFlight: 1 } }
      const pending = [newTransaction(owner, { nonce: 1n }), newTransaction(owner, { nonce: 2n })]
      expect([...(await headroom(leased, pending)).slots.values()]).toEqual([0])
    })

    test('are counted together on a chain without nonces', async () => {
      const { stub, owner, leased } = await setUp()
      stub.override = { sequencing: undefined }
      await insert(fixture.context, newTransaction(owner, { status: 'sent' }))
      const pending = [newTransaction(owner)]
      expect([...(await headroom(leased, pending)).slots.values()]).toEqual([LIMIT - 1])
    })
  })

  describe('the capacity of a relayer', () => {
    const MISSING: Answer<bigint> = {
      kind: 'refused',
      refusal: { code: 'account_not_found', detail: 'There is no such account.' },
    }
    const at = (value: bigint): Answer<bigint> => ({ kind: 'ok', value })

    /** A relayer with two channels; the answers are in the order of its source accounts. */
    async function measure(
      answers: readonly (Answer<bigint> | undefined)[],
      { free = [2, 3, 4], canOpen = true } = {},
    ) {
      const { stub, leased, addresses } = await setUp(2)
      const opened: (readonly string[])[] = []
      const asked: (readonly string[])[] = []
      stub.override = canOpen
        ? {
            channels: {
              open: async (list, { address }) => {
                opened.push(list)
                return requestOf({ to: address, value: 0n })
              },
            },
          }
        : {}
      const sequencing: Sequencing = {
        nonces: async (list) => {
          asked.push(list)
          return list.flatMap((address) => answers[addresses.indexOf(address)] ?? [])
        },
      }
      const slots = new Map(addresses.map((address, index) => [address, free[index] ?? 0]))
      const capacity = await measureCapacity(fixture.context, leased, { slots, sequencing })
      return { capacity, addresses, opened, asked, address: leased.relayer.address }
    }

    test('is that of all source accounts with a nonce', async () => {
      const { capacity, addresses, opened, asked } = await measure([at(5n), at(6n), at(7n)])
      expect(capacity).toEqual({
        sourceAccounts: [
          { address: addresses[0], slots: 2, chainNonce: 5n },
          { address: addresses[1], slots: 3, chainNonce: 6n },
          { address: addresses[2], slots: 4, chainNonce: 7n },
        ],
      })
      expect([opened, asked]).toEqual([[], [addresses]])
    })

    test('leaves out an account without slots, and one without an answer', async () => {
      const silent: Answer<bigint> = { kind: 'unknown', detail: 'time-out' }
      const { capacity, addresses, asked } = await measure([at(5n), at(6n), silent], { free: [0, 1, 1] })
      expect(capacity).toEqual({ sourceAccounts: [{ address: addresses[1], slots: 1, chainNonce: 6n }] })
      expect(asked).toEqual([addresses.slice(1)])
    })

    test('leaves out an account whose answer is missing', async () => {
      const { capacity, addresses } = await measure([at(5n), at(6n), undefined])
      expect(capacity.sourceAccounts.map(({ address }) => address)).toEqual(addresses.slice(0, 2))
    })

    test.each([
      {
        name: 'one channel',
        answers: [at(5n), MISSING, at(7n)],
        opens: [1],
        detail: 'Opens 1 channel account.',
      },
      {
        name: 'all channels',
        answers: [at(5n), MISSING, MISSING],
        opens: [1, 2],
        detail: 'Opens 2 channel accounts.',
      },
    ])('opens $name that the chain does not have', async ({ answers, opens, detail }) => {
      const { capacity, addresses, opened, address } = await measure(answers)
      expect(opened).toEqual([opens.map((index) => addresses[index])])
      expect(capacity.setup).toEqual({
        kind: 'setup',
        request: requestOf({ to: address, value: 0n }),
        detail,
      })
      expect(capacity.sourceAccounts.map((one) => one.address)).toEqual(
        addresses.filter((_, index) => !opens.includes(index)),
      )
    })

    test('opens nothing on a chain without channels', async () => {
      const { capacity, addresses } = await measure([at(5n), MISSING, MISSING], { canOpen: false })
      expect(capacity).toEqual({ sourceAccounts: [{ address: addresses[0], slots: 2, chainNonce: 5n }] })
    })

    test('is none while the own account of the relayer is not there', async () => {
      const { capacity, opened } = await measure([MISSING, at(6n), MISSING])
      expect(capacity).toEqual({ sourceAccounts: [], unusable: 'There is no such account.' })
      expect(opened).toEqual([])
    })
  })
})

describe('affordable transactions', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  test('a no-op that closes a nonce goes out without money; a request waits for it', async () => {
    const stub = createStubChain()
    stub.balance = { kind: 'ok', value: 0n }
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    const [noop, request] = await insert(
      fixture.context,
      newTransaction(owner, { nonce: 0n, purpose: 'gap_filler' }),
      newTransaction(owner),
    )
    if (!noop || !request) throw new Error('nothing was stored')
    await workAccount(fixture.context, owner.relayer.id)
    expect((await reload(fixture.context, noop)).transaction.status).toBe('submitted')
    const { transaction } = await reload(fixture.context, request)
    expect(transaction.status).toBe('pending')
    expect(transaction.statusReason).toContain('Waiting for funds')
  })
})

describe('free slots', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture({ maxInFlight: 2 })
  })
  afterAll(() => fixture.close())

  test('the in-flight limit holds where transactions have no nonces', async () => {
    const stub = createStubChain()
    const { sign } = chainOf(createStubChain())
    stub.override = {
      sequencing: undefined,
      blockFinality: undefined,
      expiry: { hasExpired: async () => false, reSignable: () => true },
      sign: (draft, signingContext) => sign(draft, { ...signingContext, nonce: 0n }),
    }
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    const stored = await insert(
      fixture.context,
      ...[1n, 2n, 3n].map((value) => newTransaction(owner, { request: requestOf({ value }) })),
    )
    await workAccount(fixture.context, owner.relayer.id)
    const now = await Promise.all(stored.map((one) => reload(fixture.context, one)))
    expect(now.map(({ transaction }) => transaction.status)).toEqual(['submitted', 'submitted', 'pending'])
  })
})
