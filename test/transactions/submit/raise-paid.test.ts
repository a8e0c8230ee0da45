import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ComparedBlock, PriceComparison } from '../../../src/chains/answer.ts'
import type { EvmPolicies } from '../../../src/chains/evm/content.ts'
import { encodeRules } from '../../../src/spending/rule-table.ts'
import type { SpendingRules } from '../../../src/spending/rules.ts'
import { readSpent } from '../../../src/spending/spending-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { decideRaise, type RaiseCase } from '../../../src/transactions/submit/raise-fee.ts'
import { draftOf, eip1559, requestOf } from '../../chains/evm/build.ts'
import { ACTOR } from '../../support/samples.ts'
import { acceptorOf, type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

describe('a raise that is paid for', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /** The fee of `fast` is raised after this time, in ms. */
  const WAIT_MS = 180_000

  const GAS = 21_000n
  /** The first attempt of the stub chain offers 100 wei per gas, and a raise 110; both move one wei. */
  const FIRST = GAS * 100n
  const RAISED = GAS * 110n

  interface Situation {
    readonly policies?: EvmPolicies & { readonly rules?: SpendingRules }
    /** The rules of the API key that sends. */
    readonly keyRules?: SpendingRules
  }

  let keys = 0

  /** A transaction that a node has taken, and that blocks leave out. */
  async function setUp({ policies = {}, keyRules }: Situation = {}) {
    const { db } = fixture.database
    const stub = createStubChain()
    stub.override = {
      feeBump: {
        speedUp: async () => ({ kind: 'ok', value: { draft: draftOf(eip1559(110n, 11n)), logs: [] } }),
      },
    }
    const owner = await fixture.addAccount({ chain: chainOf(stub), policies })
    keys += 1
    const keyId = `payouts-${keys}`
    if (keyRules)
      await db
        .insertInto('api_keys')
        .values({ id: keyId, name: keyId, scopes: '[]', rules: encodeRules(keyRules), created_by: 'root' })
        .execute()
    const actor = keyRules === undefined ? ACTOR : { ...ACTOR, keyId, rules: keyRules }
    const accept = acceptorOf(fixture.context)
    const { transaction } = await accept(owner.relayer, requestOf({ speed: 'fast' }), actor)
    const step = async (afterMs: number) => {
      fixture.clock.advance(afterMs)
      await workAccount(fixture.context, owner.relayer.id)
      const { transaction: now, attempts } = await reload(fixture.context, transaction)
      return { kinds: attempts.map(({ kind }) => kind), reason: now.statusReason, cost: now.cost }
    }
    await step(1_000)
    const feesOf = async (subject: string) => {
      const counter = { subject, network: `evm:${owner.relayer.network}`, asset: 'native' }
      const now = new Date(fixture.clock.now())
      return (await readSpent(db, [{ counter, period: 'day' }], now))(counter, 'day').fees
    }
    return { stub, owner, step, feesOf, keyId }
  }

  const feesPerDay = (fees: bigint): SpendingRules => ({ limits: [{ per: 'day', asset: 'native', fees }] })

  describe('a raise', () => {
    test('reserves what it can cost more with the attempt', async () => {
      const { step } = await setUp()
      expect(await step(WAIT_MS)).toEqual({
        kinds: ['send', 'speed_up'],
        reason: undefined,
        cost: RAISED + 1n,
      })
    })

    test('waits until the account can pay for it, besides the sum that is promised to others', async () => {
      const { stub, owner, step } = await setUp({ policies: { minBalance: 5n } })
      await insert(fixture.context, newTransaction(owner, { cost: 1_000n, awaitsApproval: true }))
      await insert(
        fixture.context,
        newTransaction(owner, { cost: 7_000n, nextRunAt: new Date(fixture.clock.now() + 200_000) }),
      )
      const needed = RAISED + 1n + 7_000n + 5n
      stub.balance = { kind: 'ok', value: needed - 1n }
      const waiting = await step(WAIT_MS)
      expect(waiting).toMatchObject({ kinds: ['send'], cost: FIRST + 1n })
      expect(waiting.reason).toMatch(
        /^Waiting for inclusion; the fee is not raised: The account can spend 2317005 wei; 7000 are reserved/,
      )
      expect(stub.broadcasted.length).toBeGreaterThan(1) // The same bytes again.
      stub.balance = { kind: 'ok', value: needed }
      expect(await step(30_000)).toMatchObject({ kinds: ['send', 'speed_up'], reason: undefined })
    })

    test('does not wait for a balance that no node tells', async () => {
      const { stub, step } = await setUp()
      stub.balance = { kind: 'unknown', detail: 'time-out' }
      expect(await step(WAIT_MS)).toMatchObject({ kinds: ['send', 'speed_up'] })
    })

    test('is dropped when a request takes the money while it is signed', async () => {
      const { stub, owner, step } = await setUp()
      const [first] = stub.broadcasted
      const real = chainOf(stub).sign
      stub.balance = { kind: 'ok', value: RAISED + 2n }
      stub.override = {
        ...stub.override,
        sign: async (draft, context) => {
          await insert(
            fixture.context,
            newTransaction(owner, { cost: 1n, nextRunAt: new Date(fixture.clock.now() + 200_000) }),
          )
          return real(draft, context)
        },
      }
      const waiting = await step(WAIT_MS)
      expect(waiting).toMatchObject({ kinds: ['send'], cost: FIRST + 1n })
      expect(waiting.reason).toContain('the fee is not raised: The account can spend')
      expect(new Set(stub.broadcasted)).toEqual(new Set([first]))
    })
  })

  describe('a budget of fees', () => {
    test('of the relayer stops a raise above it, with the rule in the record, and lets one within it', async () => {
      const { stub, step, feesOf, owner } = await setUp({ policies: { rules: feesPerDay(RAISED - 1n) } })
      const [first] = stub.broadcasted
      const waiting = await step(WAIT_MS)
      expect(waiting).toMatchObject({ kinds: ['send'], cost: FIRST + 1n })
      expect(waiting.reason).toBe(
        `Waiting for inclusion; the fee is not raised: Rule limits[0].fees of relayer ${owner.relayer.id}: fees up to ${RAISED - 1n} per day on evm:testnet; ${RAISED - 1n} is left, and this transaction needs up to ${RAISED}.`,
      )
      expect(new Set(stub.broadcasted)).toEqual(new Set([first]))
      expect(await feesOf(`relayer:${owner.relayer.id}`)).toBe(FIRST)
      const within = await setUp({ policies: { rules: feesPerDay(RAISED) } })
      expect(await within.step(WAIT_MS)).toMatchObject({ kinds: ['send', 'speed_up'] })
      expect(await within.feesOf(`relayer:${within.owner.relayer.id}`)).toBe(RAISED)
    })

    test('of the key that sent it counts in the same way, also after the key was deleted', async () => {
      const { step, feesOf, keyId } = await setUp({ keyRules: feesPerDay(RAISED - 1n) })
      const { db } = fixture.database
      await db.updateTable('api_keys').set({ deleted_at: new Date() }).where('id', '=', keyId).execute()
      const waiting = await step(WAIT_MS)
      expect(waiting.kinds).toEqual(['send'])
      expect(waiting.reason).toContain(`Rule limits[0].fees of API key ${keyId}`)
      await db
        .updateTable('api_keys')
        .set({ rules: encodeRules(feesPerDay(RAISED)) })
        .where('id', '=', keyId)
        .execute()
      expect(await step(30_000)).toMatchObject({ kinds: ['send', 'speed_up'] })
      expect(await feesOf(`key:${keyId}`)).toBe(RAISED)
    })

    test('of one transaction counts, and limits of values and numbers were asked when it was accepted', async () => {
      const narrow = { limits: [{ per: 'transaction', asset: 'native', fees: RAISED - 1n }] } as const
      expect((await (await setUp({ keyRules: narrow })).step(WAIT_MS)).kinds).toEqual(['send'])
      const others = { limits: [{ per: 'day', asset: 'native', value: 1n, count: 1 }] } as const
      expect((await (await setUp({ keyRules: others })).step(WAIT_MS)).kinds).toEqual(['send', 'speed_up'])
    })

    test('that another transaction takes while the raise is signed stops it', async () => {
      const { stub, step, feesOf, owner } = await setUp({ policies: { rules: feesPerDay(2n * FIRST) } })
      const real = chainOf(stub).sign
      const accept = acceptorOf(fixture.context)
      stub.override = {
        ...stub.override,
        sign: async (draft, context) => {
          stub.override = { ...stub.override, sign: real }
          await accept(owner.relayer, requestOf({ speed: 'fast' }), ACTOR)
          return real(draft, context)
        },
      }
      const waiting = await step(WAIT_MS)
      expect(waiting.kinds).toEqual(['send'])
      expect(waiting.reason).toContain(`${FIRST} is left, and this transaction needs up to ${RAISED}`)
      expect(await feesOf(`relayer:${owner.relayer.id}`)).toBe(2n * FIRST)
    })
  })
})

const BLOCK: ComparedBlock = { number: 7n, isNew: true, leftOut: 'room' }
const OLD: ComparedBlock = { ...BLOCK, isNew: false }
const AT_MARKET: PriceComparison = { bid: 100n, market: 100n, baseFee: 50n, newest: BLOCK }

interface Case extends Partial<Omit<RaiseCase, 'price'>> {
  readonly name: string
  readonly price?: Partial<PriceComparison> & { readonly leftOut?: ComparedBlock['leftOut'] }
  readonly want: 'raise' | 'no_new_block' | 'builders_choice' | 'price_is_right'
}

const CASES: readonly Case[] = [
  { name: 'a block with room left it out', want: 'raise' },
  { name: 'a block with room left out what was raised before', isRaised: true, want: 'raise' },
  { name: 'a full block preferred others', price: { leftOut: 'outbid' }, want: 'raise' },
  {
    name: 'a full block preferred others that paid less',
    price: { leftOut: 'full' },
    want: 'price_is_right',
  },
  { name: 'the block asked for more than it offers', price: { leftOut: 'base_fee' }, want: 'price_is_right' },
  { name: 'the next block asks for more than it offers', price: { bid: 49n }, want: 'raise' },
  { name: 'the next block asks for as much', price: { bid: 50n, leftOut: 'full' }, want: 'price_is_right' },
  { name: 'there is no new block', price: { newest: OLD }, want: 'no_new_block' },
  {
    name: 'there is no new block, and it is below the market',
    price: { newest: OLD, bid: 99n },
    want: 'no_new_block',
  },
  {
    name: 'there is no new block, and it is below the base fee',
    price: { newest: OLD, bid: 49n },
    want: 'raise',
  },
  {
    name: 'there is no new block since it was raised, and it is below the base fee',
    price: { newest: OLD, bid: 49n },
    isRaised: true,
    want: 'no_new_block',
  },
  { name: 'the newest block is not known', price: { newest: undefined }, want: 'price_is_right' },
  { name: 'only the base fee is known', price: { newest: undefined, bid: 49n }, want: 'raise' },
  {
    name: 'only the base fee is known, again',
    price: { newest: undefined, bid: 49n },
    isRaised: true,
    want: 'price_is_right',
  },
  { name: 'private endpoints have it', isOnlyPrivate: true, want: 'builders_choice' },
  {
    name: 'private endpoints have it, and blocks are full of others',
    isOnlyPrivate: true,
    price: { leftOut: 'outbid' },
    want: 'builders_choice',
  },
  {
    name: 'private endpoints have it, below the market',
    isOnlyPrivate: true,
    price: { bid: 99n },
    want: 'raise',
  },
  {
    name: 'private endpoints have it, below the base fee',
    isOnlyPrivate: true,
    price: { bid: 49n },
    want: 'raise',
  },
  {
    name: 'private endpoints have it, and there is no new block',
    isOnlyPrivate: true,
    price: { bid: 99n, newest: OLD },
    want: 'no_new_block',
  },
  { name: 'no node has it', isAccepted: false, want: 'price_is_right' },
  { name: 'no node has it, below the market', isAccepted: false, price: { bid: 99n }, want: 'raise' },
  { name: 'a sequencer has it and had room', ordersByTip: false, want: 'price_is_right' },
  {
    name: 'a sequencer has it and its block is full',
    ordersByTip: false,
    price: { leftOut: 'outbid' },
    want: 'price_is_right',
  },
  { name: 'a sequencer has it, below the base fee', ordersByTip: false, price: { bid: 49n }, want: 'raise' },
  {
    name: 'no sequencer has it, below the market',
    ordersByTip: false,
    isAccepted: false,
    price: { bid: 99n },
    want: 'price_is_right',
  },
]

describe('the fee of what waits', () => {
  test.each(CASES)('$name: $want', ({ price: { leftOut, ...price } = {}, want, ...change }) => {
    const newest = leftOut === undefined ? BLOCK : { ...BLOCK, leftOut }
    const decision = decideRaise({
      price: { ...AT_MARKET, newest, ...price },
      isAccepted: true,
      isRaised: false,
      isOnlyPrivate: false,
      ordersByTip: true,
      ...change,
    })
    expect(decision.kind === 'raise' ? decision.kind : decision.code).toBe(want)
  })

  test('says since when there was no block', () => {
    const newest = { ...OLD, time: new Date('2030-01-01T00:00:00.000Z') }
    const waiting = { isAccepted: true, isRaised: false, isOnlyPrivate: false, ordersByTip: true }
    expect(decideRaise({ ...waiting, price: { ...AT_MARKET, newest } })).toEqual({
      kind: 'wait',
      code: 'no_new_block',
      detail: 'no new block since block 7 of 2030-01-01T00:00:00.000Z, so its fee is not raised.',
    })
    expect(decideRaise({ ...waiting, price: { ...AT_MARKET, newest: OLD } })).toMatchObject({
      detail: 'no new block since block 7, so its fee is not raised.',
    })
  })
})
