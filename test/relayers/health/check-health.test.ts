import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Checked,
  createHealthChecker,
  type HealthChecker,
} from '../../../src/relayers/health/check-health.ts'
import { NO_MEMORY } from '../../../src/relayers/health/health.ts'
import { findSubjects } from '../../../src/relayers/health/health-store.ts'
import type { Relayer } from '../../../src/relayers/relayer.ts'
import {
  findRelayer,
  raiseHistoryMark,
  raiseKnownNonce,
  removeRelayer,
  saveRelayer,
  setSystemDisabled,
} from '../../../src/relayers/store.ts'
import { setNextNonce } from '../../../src/transactions/store/nonce-store.ts'
import { findUnexplained } from '../../../src/transactions/submit/number-and-sign.ts'
import {
  type Fixture,
  insert,
  newTransaction,
  openFixture,
  type TestAccount,
} from '../../transactions/fixture.ts'
import { chainOf, createStubChain, type StubChain } from '../../transactions/stub-chain.ts'

let room: Fixture
let checker: HealthChecker
/** The nonces of chains for which the checker has asked the records. */
const questioned: bigint[] = []
beforeAll(async () => {
  room = await openFixture()
  const { db, clock, log, runtimeOf } = room.context
  checker = createHealthChecker({
    db,
    clock,
    log,
    findChainReset: async () => undefined,
    findUnexplained: (relayer, sourceAccounts) => {
      questioned.push(...sourceAccounts.map(({ chainNonce }) => chainNonce))
      return findUnexplained({ db }, relayer, { sourceAccounts })
    },
    checkHistory: async () => ({ kind: 'explained' as const }),
    prepare: async (relayer) => runtimeOf(relayer),
  })
})
afterAll(() => room.close())

interface Setup {
  readonly stub: StubChain
  readonly account: TestAccount
  readonly id: string
  check(): Promise<Checked | undefined>
  /** The relayer as it is stored. */
  now(): Promise<Relayer>
  /** The states that events told of. */
  told(): Promise<(boolean | undefined)[]>
}

async function setUp(): Promise<Setup> {
  const stub = createStubChain()
  stub.override = { verify: async () => ({ kind: 'ok', value: undefined }) }
  const chain = chainOf(stub)
  const account = await room.addAccount({ chain })
  const { id } = account.relayer
  const { db } = room.database
  return {
    stub,
    account,
    id,
    check: async () => {
      // Checks that begin within a few seconds share what they heard about the chain.
      room.clock.advance(5_000)
      const [subject] = await findSubjects(db, [id])
      if (subject === undefined) throw new Error('the relayer is gone')
      const target = { ...subject, chain, sourceAccounts: account.runtime.sourceAccounts, memory: NO_MEMORY }
      return (await checker.check(chain, [target], new AbortController().signal))[0]
    },
    now: async () => {
      const found = await findRelayer(db, id)
      if (found === undefined) throw new Error('the relayer is gone')
      return found
    },
    told: async () => {
      const rows = await db
        .selectFrom('events')
        .select('payload')
        .where('relayer_id', '=', id)
        .where('type', '=', 'relayer_state_update')
        .orderBy('number')
        .execute()
      return rows.map(({ payload }) => (payload as { system_disabled?: boolean }).system_disabled)
    },
  }
}

const POOR = { kind: 'ok', value: 0n } as const
const FINE = { kind: 'ok', value: 10n ** 18n } as const

async function failedChecks(id: string): Promise<number | undefined> {
  return (await findSubjects(room.database.db, [id]))[0]?.failedChecks
}

test('many who find the same at the same time write it and tell it once', async () => {
  const { stub, check, now, told } = await setUp()
  stub.balance = POOR
  await Promise.all(Array.from({ length: 5 }, check))
  expect(await now()).toMatchObject({ systemDisabled: true, disabledReason: { type: 'BalanceCheckFailed' } })
  expect(await told()).toEqual([true])
  stub.balance = FINE
  await Promise.all(Array.from({ length: 5 }, check))
  expect((await now()).systemDisabled).toBe(false)
  expect(await told()).toEqual([true, false])
})

test('checks that fail in a row are counted from the first one, and the count outlives the healing', async () => {
  const { stub, id, check } = await setUp()
  stub.balance = POOR
  const counts = []
  for (let turn = 0; turn < 3; turn += 1) counts.push((await check())?.failedChecks)
  expect(counts).toEqual([1, 2, 3])
  expect(await failedChecks(id)).toBe(3)
  stub.balance = FINE
  expect((await check())?.failedChecks).toBe(0)
  expect(await failedChecks(id)).toBe(3)
  stub.balance = POOR
  await check()
  expect(await failedChecks(id)).toBe(1)
})

test('a finding about a relayer that was changed meanwhile is not written', async () => {
  const { stub, account, check, now, told } = await setUp()
  stub.override = {
    ...stub.override,
    balance: async () => {
      const relayer = { ...account.relayer, policies: { minBalance: 0n } }
      await room.database.db.transaction().execute((tx) => saveRelayer(tx, relayer))
      return POOR
    },
  }
  await check()
  expect((await now()).systemDisabled).toBe(false)
  expect(await told()).toEqual([])
})

test.each(['nonces', 'transactions'] as const)(
  'unexplained %s that an operator accepts during the check do not disable the relayer again',
  async (what) => {
    const { account, stub, id, now } = await setUp()
    const { db, clock, log, runtimeOf } = room.context
    const { relayer, runtime } = account
    const { address } = relayer
    const accept = async () => {
      if (what === 'nonces') await raiseKnownNonce(db, { relayerId: id, address, nonce: 5n })
      else await raiseHistoryMark(db, relayer, { slot: 10n })
    }
    const finding = createHealthChecker({
      db,
      clock,
      log,
      findChainReset: async () => undefined,
      findUnexplained: async () => {
        await accept()
        return what === 'nonces' ? [{ address, chainNonce: 5n, explained: 3n }] : []
      },
      checkHistory: async () =>
        what === 'nonces'
          ? { kind: 'explained' }
          : { kind: 'unexplained', transactions: [], explainedTo: 5n },
      prepare: async (one) => runtimeOf(one),
    })
    const [subject] = await findSubjects(db, [id])
    if (subject === undefined) throw new Error('the relayer is gone')
    const { chain, sourceAccounts } = runtime
    stub.balance = FINE
    const target = { ...subject, chain, sourceAccounts, memory: NO_MEMORY }
    await finding.check(chain, [target], new AbortController().signal)
    expect((await now()).systemDisabled).toBe(false)
  },
)

test('a finding about a relayer that was removed meanwhile is not written', async () => {
  const { stub, id, check, told } = await setUp()
  stub.override = {
    ...stub.override,
    balance: async () => {
      await room.database.db.transaction().execute((tx) => removeRelayer(tx, id))
      return POOR
    },
  }
  await check()
  expect(await told()).toEqual([])
})

test('a reason of another type is told, and other numbers are only shown', async () => {
  const { stub, check, now, told } = await setUp()
  stub.balance = POOR
  await check()
  stub.balance = { kind: 'ok', value: -5n }
  await check()
  expect((await now()).disabledReason?.details).toContain('-5 wei')
  expect(await told()).toEqual([true])
  const detail = 'network anvil: another chain.'
  stub.override = {
    verify: async () => ({ kind: 'refused', refusal: { code: 'invalid_request', detail } }),
  }
  await check()
  expect((await now()).disabledReason).toEqual({ type: 'RpcValidationFailed', details: detail })
  expect(await told()).toEqual([true, true])
})

test('the nonces of confirmed transactions are what the chain is held against, those in flight are not', async () => {
  const { stub, account, id, check, now } = await setUp()
  await insert(
    room.context,
    newTransaction(account, { status: 'confirmed', nonce: 4n }),
    newTransaction(account, { status: 'confirmed', nonce: 3n }),
    newTransaction(account, { status: 'failed', nonce: 5n }),
    newTransaction(account, { status: 'submitted', nonce: 6n }),
    newTransaction(account, { status: 'confirmed', nonce: 9n, network: 'another' }),
  )
  const [subject] = await findSubjects(room.database.db, [id])
  expect(subject?.confirmed).toEqual(new Map([[account.relayer.address, 4n]]))
  stub.nonce = { kind: 'ok', value: 5n }
  expect((await check())?.memory.outOfStep).toBe(0)
  stub.nonce = { kind: 'ok', value: 4n }
  expect((await check())?.memory.outOfStep).toBe(1)
  expect((await now()).systemDisabled).toBe(false)
})

test('a check reads the balance in whole coins, and how far the nonces of service and chain are apart', async () => {
  const { stub, account, id, check } = await setUp()
  const { address } = account.relayer
  const of = { relayerId: id, network: account.relayer.network, networkType: 'evm' }
  stub.balance = { kind: 'ok', value: 1_250_000_000_000_000_000n }
  // Without a confirmed transaction the check reads no nonce.
  expect((await check())?.reading).toEqual({ ...of, balance: 1.25, spendable: 1_250_000_000_000_000_000n })
  await insert(room.context, newTransaction(account, { status: 'confirmed', nonce: 4n }))
  const assign = (nonce: bigint | null) =>
    room.database.db.transaction().execute((tx) => setNextNonce(tx, { relayerId: id, address, nonce }))
  stub.nonce = { kind: 'ok', value: 5n }
  const gaps = []
  for (const nonce of [5n, 8n, null]) {
    await assign(nonce)
    gaps.push((await check())?.reading.nonceGap)
  }
  await assign(8n)
  stub.nonce = { kind: 'ok', value: 10n }
  gaps.push((await check())?.reading.nonceGap)
  stub.nonce = { kind: 'unknown', detail: 'silent' }
  stub.balance = { kind: 'unknown', detail: 'silent' }
  gaps.push((await check())?.reading.nonceGap)
  expect(gaps).toEqual([0, 3, undefined, -2, undefined])
  expect((await check())?.reading).toEqual(of)
})

test('the records are asked only about a nonce beyond those that were read with the relayer', async () => {
  const { stub, check, now } = await setUp()
  questioned.length = 0
  for (const nonce of [7n, 7n, 6n, 8n]) {
    stub.nonce = { kind: 'ok', value: nonce }
    await check()
  }
  expect(questioned).toEqual([7n, 8n])
  expect((await now()).disabledReason?.type).toBe('UnexplainedNonces')
})

test('an aborted check writes nothing', async () => {
  const { stub, account, id, now } = await setUp()
  const stopping = new AbortController()
  stub.override = {
    ...stub.override,
    balances: async () => {
      stopping.abort()
      return [POOR]
    },
  }
  const [subject] = await findSubjects(room.database.db, [id])
  if (subject === undefined) throw new Error('the relayer is gone')
  const { chain, sourceAccounts } = account.runtime
  expect(
    await checker.check(chain, [{ ...subject, chain, sourceAccounts, memory: NO_MEMORY }], stopping.signal),
  ).toEqual([])
  expect((await now()).systemDisabled).toBe(false)
})

test('a caller gets the relayer as it is after the check', async () => {
  const { stub, account } = await setUp()
  stub.balance = POOR
  expect(await checker.checkNow(account.relayer)).toMatchObject({ systemDisabled: true })
  stub.balance = FINE
  expect(await checker.checkNow(account.relayer)).toMatchObject({ systemDisabled: false })
})

test('a caller waits for a silent chain for five seconds', async () => {
  const { stub, account } = await setUp()
  stub.override = { verify: () => new Promise(() => {}) }
  let checked: Relayer | undefined
  const checking = checker.checkNow(account.relayer).then((relayer) => {
    checked = relayer
  })
  while (room.clock.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
  room.clock.advance(4_999)
  await new Promise((resolve) => setImmediate(resolve))
  expect(checked).toBeUndefined()
  room.clock.advance(1)
  await checking
  expect(checked).toEqual(account.relayer)
})

test('a chain that cannot be asked at all is logged and changes nothing for the caller', async () => {
  const { stub, account } = await setUp()
  stub.override = { verify: () => Promise.reject(new Error('on purpose')) }
  expect(await checker.checkNow(account.relayer)).toEqual(account.relayer)
})

test('a reason that a person reads is kept as it is while the state is unknown', async () => {
  const { stub, id, check, now } = await setUp()
  const reason = { type: 'BalanceCheckFailed', details: 'The account can spend 0 wei.' } as const
  await room.database.db.transaction().execute((tx) => setSystemDisabled(tx, id, reason))
  stub.balance = { kind: 'unknown', detail: 'no answer' }
  await check()
  expect(await now()).toMatchObject({ systemDisabled: true, disabledReason: reason })
  expect(await failedChecks(id)).toBe(2)
})
