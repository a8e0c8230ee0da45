import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { smaller } from '../../src/lib/bigint.ts'
import {
  add,
  type Counter,
  firstStep,
  maxSpent,
  SHAPES,
  type Spent,
  spentOf,
  stepOf,
  ZERO_SPENT,
} from '../../src/spending/budget.ts'
import { type LockedLedger, openLedger } from '../../src/spending/ledger.ts'
import { PERIODS, type Period, type Spender, type SpendingLimit } from '../../src/spending/rules.ts'
import { readSpent } from '../../src/spending/spending-store.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

const NETWORKS = ['evm:one', 'evm:two'] as const
const ASSETS = ['native', 'token'] as const
const SUBJECTS = ['key:a', 'key:b', 'relayer:r'] as const

/** The model knows this of one transaction, spender and asset. */
interface Entry extends Counter {
  readonly transactionId: string
  at: number
  most: Spent
  counted: Spent
}

interface Wish {
  readonly transactionId: string
  readonly network: string
  readonly spenders: readonly Spender[]
  readonly value: number
  readonly tokens: number
  readonly fees: number
}

const limit: fc.Arbitrary<SpendingLimit> = fc
  .record({
    per: fc.constantFrom('transaction', ...PERIODS),
    asset: fc.constantFrom(...ASSETS),
    network: fc.constantFrom(undefined, undefined, ...NETWORKS),
    amount: fc.nat(60),
    kind: fc.constantFrom('value', 'fees', 'count'),
  })
  .map(({ per, asset, network, amount, kind }) => ({
    per,
    asset,
    ...(network === undefined ? {} : { network }),
    ...(kind === 'count' && asset === 'native' && per !== 'transaction'
      ? { count: amount % 6 }
      : kind === 'fees' && asset === 'native'
        ? { fees: BigInt(amount) }
        : { value: BigInt(amount) }),
  }))

const amounts = { value: fc.nat(25), tokens: fc.nat(25), fees: fc.nat(10) }
const request = fc.record({ network: fc.constantFrom(0, 0, 0, 1), key: fc.nat(1), ...amounts })

const MINUTE_MS = 60_000
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send'),
      batch: fc.array(request, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace'), of: fc.nat(), request }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('raise'), of: fc.nat(), fees: fc.nat(15) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('settle'), of: fc.nat(), count: fc.nat(1), ...amounts }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen'), of: fc.nat() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('wait'),
      // About the lengths of the periods, with and without their steps.
      ms: fc
        .constantFrom(1, 7, 30, 59, 61, 12 * 60, 24 * 60, 24 * 60 + 15, 30 * 24 * 60, 31 * 24 * 60)
        .map((minutes) => minutes * MINUTE_MS + 1),
    }),
  },
) as fc.Arbitrary<
  | { kind: 'send'; batch: { network: number; key: number; value: number; tokens: number; fees: number }[] }
  | { kind: 'replace'; of: number; request: { key: number; value: number; tokens: number; fees: number } }
  | { kind: 'raise'; of: number; fees: number }
  | { kind: 'settle'; of: number; count: number; value: number; tokens: number; fees: number }
  | { kind: 'reopen'; of: number }
  | { kind: 'wait'; ms: number }
>

const chargeOf = ({ network, value, tokens, fees }: Wish) => ({
  network,
  fees: BigInt(fees),
  amounts: [
    { asset: 'native', value: BigInt(value) },
    { asset: 'token', value: BigInt(tokens) },
  ],
})

const isSame = (one: Spent, other: Spent) =>
  one.value === other.value && one.fees === other.fees && one.count === other.count

/** The oracle: a list of what was taken, when, and from whom. */
function createOracle() {
  const entries: Entry[] = []
  const counts = (entry: Entry, counter: Counter) =>
    entry.subject === counter.subject && entry.network === counter.network && entry.asset === counter.asset
  const sum = (counter: Counter, isCounted: (at: number) => boolean) =>
    entries
      .filter((entry) => counts(entry, counter) && isCounted(entry.at))
      .reduce((total, { counted }) => add(total, counted), ZERO_SPENT)
  const raiseEntry = (entry: Entry, spent: Spent, now: number) => {
    const higher = maxSpent(entry.most, spent)
    if (isSame(higher, entry.counted)) return
    Object.assign(entry, { at: now, most: higher, counted: higher })
  }
  return {
    entries,
    /** Returns what counts now, with the steps of the periods. */
    inSteps: (counter: Counter, period: Period, now: number) =>
      sum(counter, (at) => stepOf(period, new Date(at)) >= firstStep(period, new Date(now))),
    /** Returns what was taken in exactly the last period. */
    inWindow: (counter: Counter, period: Period, now: number) =>
      sum(counter, (at) => at > now - SHAPES[period].lengthMs),
    take(wish: Wish, now: number) {
      for (const { subject, rules } of wish.spenders) {
        if ((rules.limits ?? []).length === 0) continue
        const named = new Set(['native', ...(rules.limits ?? []).map(({ asset }) => asset)])
        for (const [asset, spent] of spentOf(chargeOf(wish))) {
          if (!named.has(asset)) continue
          const { transactionId, network } = wish
          const known = entries.find(
            (entry) =>
              entry.transactionId === transactionId && entry.subject === subject && entry.asset === asset,
          )
          if (known) raiseEntry(known, spent, now)
          else entries.push({ transactionId, subject, network, asset, at: now, most: spent, counted: spent })
        }
      }
    },
    raise(transactionId: string, spent: Spent, now: number) {
      for (const entry of entries)
        if (entry.transactionId === transactionId && entry.asset === 'native') raiseEntry(entry, spent, now)
    },
    reopen(transactionId: string) {
      for (const entry of entries.filter((one) => one.transactionId === transactionId))
        entry.counted = entry.most
    },
    settle(transactionId: string, took: (asset: string) => Spent) {
      for (const entry of entries.filter((one) => one.transactionId === transactionId)) {
        const { value, fees, count } = took(entry.asset)
        entry.counted = {
          value: smaller(value, entry.most.value),
          fees,
          count: Math.min(count, entry.most.count),
        }
      }
    },
  }
}

type Oracle = ReturnType<typeof createOracle>

/** Each rolling limit of a spender on a network, with its counter. */
function rollingLimits({ subject, rules }: Spender, network: string) {
  return (rules.limits ?? []).flatMap((one) => {
    const period = PERIODS.find((name) => name === one.per)
    if (period === undefined || (one.network !== undefined && one.network !== network)) return []
    return [{ limit: one, period, counter: { subject, network, asset: one.asset } }]
  })
}

const exceeds = ({ value, fees, count }: Spent, allowed: SpendingLimit) =>
  value > (allowed.value ?? value) || fees > (allowed.fees ?? fees) || count > (allowed.count ?? count)

/** Returns true if a new transaction is within every limit. */
function fits(oracle: Oracle, wish: Wish, now: number): boolean {
  const charge = spentOf(chargeOf(wish))
  return wish.spenders.every((spender) => {
    const single = (spender.rules.limits ?? []).filter(
      ({ per, network }) => per === 'transaction' && (network ?? wish.network) === wish.network,
    )
    return (
      single.every((one) => !exceeds(charge.get(one.asset) ?? ZERO_SPENT, one)) &&
      rollingLimits(spender, wish.network).every(
        ({ limit: one, period, counter }) =>
          !exceeds(add(oracle.inSteps(counter, period, now), charge.get(one.asset) ?? ZERO_SPENT), one),
      )
    )
  })
}

async function ask(wish: Wish, now: number): Promise<boolean> {
  const { transactionId, network, spenders } = wish
  return database.db.transaction().execute(async (tx) => {
    const ledger = await openLedger(tx, {
      now: new Date(now),
      transactionIds: [transactionId],
      limits: { spenders, network },
    })
    const purchase = { transactionId, spenders, charge: chargeOf(wish) }
    if (ledger.evaluate(purchase).some(({ allowed }) => !allowed)) return false
    ledger.reserve(purchase)
    await ledger.save()
    return true
  })
}

/** Changes what a transaction holds. */
async function change(id: string, now: number, to: (ledger: LockedLedger) => void) {
  await database.db.transaction().execute(async (tx) => {
    const ledger = await openLedger(tx, { now: new Date(now), transactionIds: [id] })
    to(ledger)
    await ledger.save()
  })
}

/** Every sum that the database can be asked for is that of the oracle. */
async function compare(oracle: Oracle, now: number): Promise<void> {
  const asked = SUBJECTS.flatMap((subject) =>
    NETWORKS.flatMap((network) =>
      ASSETS.flatMap((asset) => PERIODS.map((period) => ({ counter: { subject, network, asset }, period }))),
    ),
  )
  const spentIn = await readSpent(database.db, asked, new Date(now))
  expect(asked.map(({ counter, period }) => ({ ...counter, period, ...spentIn(counter, period) }))).toEqual(
    asked.map(({ counter, period }) => ({ ...counter, period, ...oracle.inSteps(counter, period, now) })),
  )
}

/** Nothing that was accepted may exceed a limit in the period that ends now, or exceed it further. */
function limitsHold(
  oracle: Oracle,
  wish: Wish,
  before: (counter: Counter, period: Period) => Spent,
  now: number,
) {
  for (const spender of wish.spenders)
    for (const { limit: one, period, counter } of rollingLimits(spender, wish.network)) {
      const after = oracle.inWindow(counter, period, now)
      const { value, fees, count } = before(counter, period)
      if (one.value !== undefined && after.value > value) expect(after.value).toBeLessThanOrEqual(one.value)
      if (one.fees !== undefined && after.fees > fees) expect(after.fees).toBeLessThanOrEqual(one.fees)
      if (one.count !== undefined && after.count > count) expect(after.count).toBeLessThanOrEqual(one.count)
    }
}

async function emptyBudgets() {
  for (const table of ['spenders', 'spendings', 'spent'] as const)
    await database.db.deleteFrom(table).execute()
}

test('whatever is asked, replaced, raised, given back and reopened, the sums are true and no limit is exceeded', async () => {
  const limits = fc.array(limit, { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(limits, limits, limits),
      fc.array(step, { maxLength: 25 }),
      async (rules, steps) => {
        await emptyBudgets()
        const spenders = SUBJECTS.map((subject, index) => ({
          subject,
          rules: { limits: rules[index] ?? [] },
        }))
        const payersOf = (key: number) => spenders.filter((_spender, index) => index === key || index === 2)
        const oracle = createOracle()
        const sent: { id: string; network: string; open: boolean; settled?: boolean }[] = []
        let now = Date.UTC(2026, 0, 1)
        const accept = (wish: Wish) => {
          const held = new Map<string, Spent>()
          const key = (counter: Counter, period: Period) => JSON.stringify([counter, period])
          for (const spender of wish.spenders)
            for (const { counter, period } of rollingLimits(spender, wish.network))
              held.set(key(counter, period), oracle.inWindow(counter, period, now))
          oracle.take(wish, now)
          limitsHold(oracle, wish, (counter, period) => held.get(key(counter, period)) ?? ZERO_SPENT, now)
        }
        for (const one of steps) {
          const target = 'of' in one ? sent[one.of % sent.length] : undefined
          if (one.kind === 'wait') now += one.ms
          if (one.kind === 'send') {
            const wishes = one.batch.map(({ network, key, ...amount }, index) => ({
              transactionId: `tx ${sent.length + index}`,
              network: NETWORKS[network] ?? NETWORKS[0],
              spenders: payersOf(key),
              ...amount,
            }))
            const [first] = wishes
            const wasFree = wishes.length === 1 && first !== undefined ? fits(oracle, first, now) : undefined
            const answers = await Promise.all(wishes.map((wish) => ask(wish, now)))
            if (wasFree !== undefined) expect(answers).toEqual([wasFree])
            wishes.forEach((wish, index) => {
              sent.push({ id: wish.transactionId, network: wish.network, open: answers[index] === true })
              if (answers[index]) accept(wish)
            })
            // Anyone who was refused was refused for a reason that stays: nothing is given back meanwhile.
            wishes.forEach((wish, index) => {
              if (!answers[index]) expect(fits(oracle, wish, now)).toBe(false)
            })
          }
          if (target?.open && one.kind === 'replace') {
            const { key, ...amount } = one.request
            const wish = {
              ...amount,
              transactionId: target.id,
              network: target.network,
              spenders: payersOf(key),
            }
            if (await ask(wish, now)) accept(wish)
          }
          if (target?.open && one.kind === 'raise') {
            const fees = BigInt(one.fees)
            const raise = { transactionId: target.id, fees, at: new Date(now) }
            await change(target.id, now, (ledger) => ledger.raise(raise))
            oracle.raise(target.id, { ...ZERO_SPENT, fees, count: 1 }, now)
          }
          if (target?.open && one.kind === 'settle') {
            const took = (asset: string) =>
              asset === 'native'
                ? { value: BigInt(one.value), fees: BigInt(one.fees), count: one.count }
                : { ...ZERO_SPENT, value: BigInt(one.tokens) }
            await change(target.id, now, (ledger) => ledger.settle(target.id, ({ asset }) => took(asset)))
            oracle.settle(target.id, took)
            target.open = false
            target.settled = true
          }
          if (target?.settled && one.kind === 'reopen') {
            await change(target.id, now, (ledger) => ledger.reopen())
            oracle.reopen(target.id)
            target.open = true
            target.settled = false
          }
          await compare(oracle, now)
        }
      },
    ),
    { numRuns: 60 },
  )
}, 30_000)
