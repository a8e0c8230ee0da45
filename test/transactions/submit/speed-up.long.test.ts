import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answer, BroadcastResult } from '../../../src/chains/answer.ts'
import type { EvmRequest } from '../../../src/chains/evm/content.ts'
import type { EvmAttempt, EvmPrepared } from '../../../src/chains/evm/types.ts'
import { broadcastByRoute, type Route, routeOf } from '../../../src/transactions/broadcast/route.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { createReplacer } from '../../../src/transactions/replace/replace.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { workAccount } from '../../../src/transactions/submit/account-step.ts'
import { requestOf } from '../../chains/evm/build.ts'
import { ACTOR, CANCELS } from '../../support/samples.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain, LEFT_OUT, SILENT_NETWORK } from '../stub-chain.ts'

describe('a speed-up', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /** The newest attempt with fees ten times as high. */
  async function dearer(attempts: readonly EvmAttempt[]): Promise<Answer<EvmPrepared>> {
    const newest = attempts.at(-1)
    if (!newest) return { kind: 'unknown', detail: 'nothing to raise' }
    const fees = {
      kind: 'legacy',
      gasPrice: 10_000n * BigInt(attempts.filter(({ outcome }) => outcome !== 'refused').length),
    } as const
    return { kind: 'ok', value: { draft: { ...newest.draft, fees }, logs: [] } }
  }

  async function setUp(...requests: readonly Partial<EvmRequest>[]) {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    stub.override = { feeBump: { speedUp: dearer }, replace: (_request, attempts) => dearer(attempts) }
    const made = requests.map((request) => newTransaction(owner, { request: requestOf(request) }))
    const stored = await insert(fixture.context, ...made)
    fixture.clock.advance(1_000)
    const step = () => workAccount(fixture.context, owner.relayer.id)
    await step()
    return { stub, owner, stored, step }
  }

  async function kindsOf(transaction: Transaction | undefined): Promise<string[]> {
    if (!transaction) throw new Error('no transaction')
    const { attempts } = await reload(fixture.context, transaction)
    return attempts.map(({ kind, outcome }) => `${kind} ${outcome}`)
  }

  const MINUTE = 60_000

  describe('a fee', () => {
    test.each([
      { speed: 'fastest', patience: 2 * MINUTE },
      { speed: 'fast', patience: 3 * MINUTE },
      { speed: 'average', patience: 5 * MINUTE },
      { speed: 'safeLow', patience: 10 * MINUTE },
    ] as const)(
      'is raised after the wait of $speed, and again after the next',
      async ({ speed, patience }) => {
        const { stored, step } = await setUp({ speed })
        fixture.clock.advance(patience - 1)
        await step()
        expect(await kindsOf(stored[0])).toEqual(['send broadcast'])
        fixture.clock.advance(1)
        await step()
        await step()
        expect(await kindsOf(stored[0])).toEqual(['send broadcast', 'speed_up broadcast'])
        fixture.clock.advance(patience)
        await step()
        expect(await kindsOf(stored[0])).toHaveLength(3)
      },
    )

    test('of a transaction that every node keeps queued is raised immediately, and again only after the wait', async () => {
      const { stub, stored, step } = await setUp({ speed: 'safeLow' })
      stub.answerBroadcast = () => ({ kind: 'accepted', known: true, queuedInPool: true })
      fixture.clock.advance(30_000)
      await step()
      expect(await kindsOf(stored[0])).toEqual(['send broadcast', 'speed_up broadcast'])
      for (let waited = 0; waited < 9 * MINUTE; waited += 30_000) {
        fixture.clock.advance(30_000)
        await step()
      }
      expect(await kindsOf(stored[0])).toHaveLength(2)
      fixture.clock.advance(MINUTE)
      await step()
      expect(await kindsOf(stored[0])).toHaveLength(3)
    })

    test('that the caller named is left alone', async () => {
      const { stored, step } = await setUp({ gasPrice: 5n })
      fixture.clock.advance(60 * MINUTE)
      await step()
      expect(await kindsOf(stored[0])).toEqual(['send broadcast'])
    })

    test('is raised only for the first transaction of the queue', async () => {
      const { stored, step } = await setUp({ speed: 'fast' }, { speed: 'fast' })
      fixture.clock.advance(10 * MINUTE)
      await step()
      expect(await kindsOf(stored[0])).toHaveLength(2)
      expect(await kindsOf(stored[1])).toHaveLength(1)
    })

    test('waits again when the transaction becomes the first, because before it waited for others', async () => {
      const { stub, stored, step } = await setUp({ speed: 'fast' }, { speed: 'fast' })
      const [first, second] = stored
      if (!first || !second) throw new Error('nothing was stored')
      fixture.clock.advance(60 * MINUTE)
      const { transaction } = await reload(fixture.context, first)
      const { db } = fixture.database
      await db.transaction().execute((tx) => saveTransactions(tx, [{ ...transaction, status: 'mined' }]))
      // An event has the time of the database, which the clock of the room has left behind.
      await db
        .updateTable('events')
        .set({ created_at: new Date(fixture.clock.now()) })
        .where('transaction_id', '=', first.id)
        .execute()
      stub.nonce = { kind: 'ok', value: 1n }
      fixture.clock.advance(3 * MINUTE - 1)
      await step()
      expect(await kindsOf(second)).toHaveLength(1)
      fixture.clock.advance(30_000)
      await step()
      expect(await kindsOf(second)).toEqual(['send broadcast', 'speed_up broadcast'])
    })

    test('on a network without a mempool is raised only when the base fee has passed it (R13)', async () => {
      const stub = createStubChain()
      const network = { ...SILENT_NETWORK, mempool: false }
      const owner = await fixture.addAccount({ chain: chainOf(stub), network })
      const [stored] = await insert(
        fixture.context,
        newTransaction(owner, { request: requestOf({ speed: 'fast' }) }),
      )
      let baseFee = 99n
      stub.override = {
        feeBump: { speedUp: dearer },
        comparePrice: async () => ({
          kind: 'ok',
          value: { bid: 100n, market: 300n, baseFee, newest: LEFT_OUT },
        }),
      }
      const step = () => workAccount(fixture.context, owner.relayer.id)
      fixture.clock.advance(1_000)
      await step()
      fixture.clock.advance(10 * MINUTE)
      await step()
      expect(await kindsOf(stored)).toEqual(['send broadcast'])
      expect(stub.broadcasted).toHaveLength(2) // The same bytes again.
      baseFee = 101n
      fixture.clock.advance(MINUTE)
      await step()
      expect(await kindsOf(stored)).toEqual(['send broadcast', 'speed_up broadcast'])
    })

    test.each([
      {
        name: 'is raised when the market has passed it',
        market: 101n,
        kinds: ['send signed', 'speed_up signed'],
      },
      { name: 'is left alone when its price is not the reason', market: 100n, kinds: ['send signed'] },
    ])('that no node ever took, counted from its signature, $name', async ({ market, kinds }) => {
      const stub = createStubChain()
      const owner = await fixture.addAccount({ chain: chainOf(stub) })
      stub.answerBroadcast = () => ({ kind: 'later', detail: 'txpool is full' })
      stub.override = {
        feeBump: { speedUp: dearer },
        comparePrice: async () => ({
          kind: 'ok',
          value: { bid: 100n, market, baseFee: 1n, newest: LEFT_OUT },
        }),
      }
      const [stored] = await insert(
        fixture.context,
        newTransaction(owner, { request: requestOf({ speed: 'fast' }), nextRunAt: new Date(0) }),
      )
      await workAccount(fixture.context, owner.relayer.id)
      fixture.clock.advance(3 * MINUTE - 1)
      await workAccount(fixture.context, owner.relayer.id)
      expect(await kindsOf(stored)).toEqual(['send signed'])
      fixture.clock.advance(1_000)
      await workAccount(fixture.context, owner.relayer.id)
      expect(await kindsOf(stored)).toEqual(kinds)
    })

    test('that cannot be raised leaves the transaction waiting, with the reason', async () => {
      const { stub, stored, step } = await setUp({ speed: 'fast' })
      stub.override = {
        feeBump: {
          speedUp: async () => ({
            kind: 'refused',
            refusal: { code: 'gas_price_above_cap', detail: 'The cap is 5.' },
          }),
        },
      }
      fixture.clock.advance(10 * MINUTE)
      await step()
      const [transaction] = stored
      if (!transaction) throw new Error('no transaction')
      expect((await reload(fixture.context, transaction)).transaction).toMatchObject({
        status: 'submitted',
        statusReason: 'Waiting for inclusion; the fee is not raised: The cap is 5.',
      })
      // A pool may have lost it: what cannot be raised is offered again as it is, time after time.
      const [hash] = stub.broadcasted
      fixture.clock.advance(30_000)
      await step()
      expect(stub.broadcasted).toEqual([hash, hash, hash])
    })

    test('that a node refuses leaves the earlier attempt, and blocks no transactions behind it', async () => {
      const { stub, owner, stored, step } = await setUp({ speed: 'fast' })
      const [first] = stub.broadcasted
      stub.answerBroadcast = (hash) =>
        hash === first ? { kind: 'accepted' } : { kind: 'underpriced', detail: 'not enough' }
      fixture.clock.advance(10 * MINUTE)
      await step()
      // The market stands still, so the next raise gives the very same bytes.
      fixture.clock.advance(30_000)
      await step()
      expect(await kindsOf(stored[0])).toEqual(['send broadcast', 'speed_up refused'])
      stub.answerBroadcast = () => ({ kind: 'accepted' })
      const [next] = await insert(fixture.context, newTransaction(owner))
      fixture.clock.advance(1_000)
      await step()
      expect(await kindsOf(next)).toEqual(['send broadcast'])
    })
  })

  describe('valid_until', () => {
    const soon = () => ({ validUntil: new Date(fixture.clock.now() + 10_000) })

    test('that passes in a pool gives the nonce to a no-op', async () => {
      const { stored, step } = await setUp(soon())
      fixture.clock.advance(10_000)
      await step()
      const [transaction] = stored
      if (!transaction) throw new Error('no transaction')
      expect(await kindsOf(transaction)).toEqual(['send broadcast', 'expire broadcast'])
      expect((await reload(fixture.context, transaction)).transaction).toMatchObject({
        status: 'submitted',
        purpose: 'expire',
        statusReason: 'valid_until passed; a no-op will use its nonce.',
      })
    })

    test('that passes before a node accepted the bytes puts a no-op in their place', async () => {
      const stub = createStubChain()
      const owner = await fixture.addAccount({ chain: chainOf(stub) })
      stub.override = { replace: (_request, attempts) => dearer(attempts) }
      stub.answerBroadcast = () => ({ kind: 'unknown', detail: 'time-out' })
      const validUntil = new Date(fixture.clock.now() + 5_000)
      const [stored] = await insert(
        fixture.context,
        newTransaction(owner, { request: requestOf({ speed: 'fast', validUntil }) }),
      )
      fixture.clock.advance(1_000)
      await workAccount(fixture.context, owner.relayer.id)
      const [late] = stub.broadcasted.splice(0)
      stub.answerBroadcast = () => ({ kind: 'accepted' })
      fixture.clock.advance(10_000)
      await workAccount(fixture.context, owner.relayer.id)
      expect(await kindsOf(stored)).toEqual(['send signed', 'expire broadcast'])
      expect(stub.broadcasted).not.toContain(late)
    })

    test('whose no-op is refused is tried again, and blocks no transactions behind it', async () => {
      const { stub, owner, stored, step } = await setUp(soon())
      const [first] = stub.broadcasted
      stub.answerBroadcast = (hash) =>
        hash === first ? { kind: 'accepted' } : { kind: 'underpriced', detail: 'not enough' }
      fixture.clock.advance(10_000)
      await step()
      fixture.clock.advance(30_000)
      await step()
      stub.answerBroadcast = () => ({ kind: 'accepted' })
      const [next] = await insert(fixture.context, newTransaction(owner))
      fixture.clock.advance(1_000)
      await step()
      expect(await kindsOf(next)).toEqual(['send broadcast'])
      expect(await kindsOf(stored[0])).toEqual(['send broadcast', 'expire refused'])
    })
  })
})

describe('speed up refused', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  /** Each attempt pays more than all before it. */
  async function dearer(
    { to, value, data = '0x' }: EvmRequest,
    attempts: readonly EvmAttempt[],
  ): Promise<Answer<EvmPrepared>> {
    const fees = { kind: 'legacy', gasPrice: 1_000n * BigInt(attempts.length + 1) } as const
    const content = { type: 'evm', value, data, gasLimit: 21_000n, fees } as const
    return { kind: 'ok', value: { draft: to === undefined ? content : { to, ...content }, logs: [] } }
  }

  /** A transfer of 7 wei that a node has taken. */
  async function setUp() {
    const stub = createStubChain()
    const owner = await fixture.addAccount({ chain: chainOf(stub) })
    stub.override = {
      replace: dearer,
      feeBump: {
        speedUp: async (attempts) => {
          const last = attempts.at(-1)
          return last ? dearer(last.draft, attempts) : { kind: 'unknown', detail: 'nothing to raise' }
        },
      },
    }
    const transaction = newTransaction(owner, { request: requestOf({ speed: 'fast', value: 7n }) })
    await insert(fixture.context, transaction)
    const step = async (afterMs: number) => {
      fixture.clock.advance(afterMs)
      await workAccount(fixture.context, owner.relayer.id)
    }
    await step(1_000)
    const now = () => reload(fixture.context, transaction)
    const kinds = async () => (await now()).attempts.map(({ kind, outcome }) => `${kind} ${outcome}`)
    const replacer = createReplacer(fixture.context)
    const change = {
      replace: () =>
        replacer.replace({
          relayer: owner.relayer,
          id: transaction.id,
          request: requestOf({ value: 8n }),
          actor: ACTOR,
        }),
      cancel: () => replacer.cancel({ relayer: owner.relayer, id: transaction.id, ...CANCELS }),
    }
    return { stub, step, now, kinds, change }
  }

  const REFUSED = { kind: 'refused', detail: 'exceeds the configured cap' } as const
  const MINUTE = 60_000

  describe('after a change that a node refused', () => {
    test.each(['replace', 'cancel'] as const)(
      '(%s) the content that still counts is raised',
      async (kind) => {
        const { stub, step, now, kinds, change } = await setUp()
        stub.answerBroadcast = () => REFUSED
        await expect(change[kind]()).rejects.toMatchObject({ code: 'replacement_underpriced' })
        stub.answerBroadcast = () => ({ kind: 'accepted' })
        await step(10 * MINUTE)
        expect(await kinds()).toEqual(['send broadcast', `${kind} refused`, 'speed_up broadcast'])
        expect((await now()).attempts.at(-1)?.draft).toMatchObject({ value: 7n })
      },
    )

    test('the change is made again if it stays because the caller got no answer', async () => {
      const { stub, step, now, kinds, change } = await setUp()
      stub.answerBroadcast = () => ({ kind: 'unknown', detail: 'time-out' })
      await change.cancel()
      stub.answerBroadcast = () => REFUSED
      await step(1_000)
      expect((await now()).transaction).toMatchObject({ purpose: 'cancel', currentAttempt: 1 })
      stub.answerBroadcast = () => ({ kind: 'accepted' })
      await step(10 * MINUTE)
      expect(await kinds()).toEqual(['send broadcast', 'cancel refused', 'cancel broadcast'])
      expect((await now()).attempts.at(-1)?.draft).toMatchObject({ value: 0n })
      await step(10 * MINUTE)
      expect((await now()).attempts.at(-1)).toMatchObject({ kind: 'speed_up', draft: { value: 0n } })
    })
  })
})

const bytes = (route: Route, index: number) => ({ raw: Uint8Array.of(index), route, mayBeInPool: false })

/** Answers each item with its bytes, and remembers what it got. */
function recorder(name: string) {
  const got: number[] = []
  const broadcast = async (raws: readonly Uint8Array[]): Promise<BroadcastResult[]> => {
    got.push(...raws.map(([index = 0]) => index))
    return raws.map(([index]) => ({ kind: 'later', detail: `${name} ${index}` }))
  }
  return { got, broadcast }
}

test.each<[Parameters<typeof routeOf>[0], Route]>([
  [{}, 'public'],
  [{ madePublicAt: new Date(0) }, 'public'],
  [{ isPrivate: true }, 'private'],
  [{ isPrivate: true, madePublicAt: new Date(0) }, 'all'],
])('the route of %j is %s', (transaction, route) => {
  expect(routeOf(transaction)).toBe(route)
})

test('each item goes where it may, in order, and gets the answer of its own endpoints', async () => {
  const [open, hidden] = [recorder('public'), recorder('private')]
  const chain = {
    broadcast: open.broadcast,
    privateBroadcast: { broadcast: hidden.broadcast, forward: async () => [], endpoints: () => [] },
  }
  const items = [bytes('private', 1), bytes('public', 2), bytes('all', 3), bytes('private', 4)]
  const results = await broadcastByRoute(chain, items)
  expect([open.got, hidden.got]).toEqual([
    [2, 3],
    [1, 3, 4],
  ])
  expect(results.map((result) => 'detail' in result && result.detail)).toEqual([
    'private 1',
    'public 2',
    'public 3',
    'private 4',
  ])
})

test.each<[string, BroadcastResult, BroadcastResult, BroadcastResult['kind']]>([
  [
    'refuses the content and takes the no-op',
    { kind: 'unclear', detail: '' },
    { kind: 'accepted' },
    'accepted',
  ],
  ['refuses both', { kind: 'unclear', detail: '' }, { kind: 'unclear', detail: '' }, 'unclear'],
  ['takes the content now', { kind: 'accepted' }, { kind: 'accepted' }, 'underpriced'],
])('content that a no-op is compared with goes first: a node that %s', async (_name, content, noop, want) => {
  const got: number[] = []
  const broadcast = async (raws: readonly Uint8Array[]) => {
    got.push(...raws.map(([index = 0]) => index))
    return raws.map(([index]) => (index === 1 ? content : noop))
  }
  const items = [
    bytes('public', 7),
    { ...bytes('public', 2), compared: Uint8Array.of(1) },
    bytes('public', 8),
  ]
  const results = await broadcastByRoute({ broadcast }, items)
  expect(got).toEqual([7, 1, 2, 8])
  expect(results.map(({ kind }) => kind)).toEqual([noop.kind, want, noop.kind])
})

test('without private endpoints private bytes go nowhere', async () => {
  const open = recorder('public')
  const [kept, sent] = await broadcastByRoute({ broadcast: open.broadcast }, [
    bytes('private', 1),
    bytes('all', 2),
  ])
  expect(open.got).toEqual([2])
  expect([kept?.kind, sent?.kind]).toEqual(['withheld', 'later'])
})
