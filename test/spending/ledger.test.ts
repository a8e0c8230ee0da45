import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import type { AppError } from '../../src/errors.ts'
import { openLedger, refusalIn, spend } from '../../src/spending/ledger.ts'
import type { SpendingLimit } from '../../src/spending/rules.ts'
import { findHoldings, readSpent } from '../../src/spending/spending-store.ts'
import { openTestDatabase } from '../support/database.ts'
import { NETWORK, spenderWith, spentOf } from './build.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

const HOUR_MS = 60 * 60_000
const START_MS = Date.UTC(2026, 0, 1)

interface Content {
  readonly transactionId: string
  readonly value: bigint
  readonly fees: bigint
  /** Hours after the start. */
  readonly hours: number
}

/** Charges content to a key with these limits, and gives the refusal. */
function charger(id: string, limits: readonly SpendingLimit[]) {
  const spenders = [{ ...spenderWith({ limits }), subject: `key:${id}` }]
  return ({ transactionId, value, fees, hours }: Content) =>
    database.db.transaction().execute(async (tx) => {
      const now = new Date(START_MS + hours * HOUR_MS)
      const charge = { network: NETWORK, amounts: [{ asset: 'native', value }], fees }
      const purchase = { transactionId: `${id} ${transactionId}`, spenders, charge }
      return spend(tx, purchase, now).catch((error: AppError) => error.message)
    })
}

const AN_HOUR: SpendingLimit = { per: 'hour', asset: 'native', value: 100n }
const HUNDRED = [AN_HOUR]

test('a replacement with a higher fee counts the higher value of the earlier content again, so it needs the budget of both', async () => {
  const charge = charger('late', HUNDRED)
  expect(await charge({ transactionId: 'stuck', value: 90n, fees: 1n, hours: 0 })).toBeUndefined()
  expect(await charge({ transactionId: 'other', value: 60n, fees: 1n, hours: 2 })).toBeUndefined()
  expect(await charge({ transactionId: 'stuck', value: 40n, fees: 2n, hours: 2 })).toBe(
    'Rule limits[0].value of API key late: value up to 100 per hour on evm:testnet; 40 is left, and this transaction needs up to 90.',
  )
})

test('a replacement is charged only for what it can take more', async () => {
  const charge = charger('more', HUNDRED)
  expect(await charge({ transactionId: 'stuck', value: 90n, fees: 1n, hours: 0 })).toBeUndefined()
  expect(await charge({ transactionId: 'stuck', value: 100n, fees: 2n, hours: 0.5 })).toBeUndefined()
  expect(await charge({ transactionId: 'stuck', value: 101n, fees: 2n, hours: 0.5 })).toContain(
    'needs up to 101',
  )
  // All of it counts from the replacement on.
  expect(await charge({ transactionId: 'other', value: 1n, fees: 1n, hours: 1.4 })).toContain('0 is left')
  expect(await charge({ transactionId: 'other', value: 100n, fees: 1n, hours: 1.6 })).toBeUndefined()
})

test('what is final when it is charged is settled at once', async () => {
  const spenders = [{ ...spenderWith({ limits: HUNDRED }), subject: 'key:final' }]
  const charge = { network: NETWORK, amounts: [{ asset: 'native', value: 60n }], fees: 1n }
  const purchase = { transactionId: 'final', spenders, charge, isFinal: true }
  await database.db.transaction().execute((tx) => spend(tx, purchase, new Date(START_MS)))
  expect(await findHoldings(database.db, ['final'])).toMatchObject([{ settled: true }])
})

test('purchases of one ledger count before they are stored', async () => {
  const spenders = [{ ...spenderWith({ limits: HUNDRED }), subject: 'key:batch' }]
  const purchaseOf = (transactionId: string, value: bigint) => {
    const charge = { network: NETWORK, amounts: [{ asset: 'native', value }], fees: 1n }
    return { transactionId, spenders, charge }
  }
  await database.db.transaction().execute(async (tx) => {
    const ledger = await openLedger(tx, { now: new Date(START_MS), limits: { spenders, network: NETWORK } })
    ledger.reserve(purchaseOf('first', 60n))
    expect(refusalIn(ledger.evaluate(purchaseOf('second', 41n)))?.message).toContain('40 is left')
    expect(refusalIn(ledger.evaluate(purchaseOf('second', 40n)))).toBeUndefined()
  })
})

test('what one commit raises and replaces is counted once, at its last state', async () => {
  const spenders = [{ ...spenderWith({ limits: [{ ...AN_HOUR, fees: 10n }] }), subject: 'key:commit' }]
  const limits = { spenders, network: NETWORK }
  const [now, later] = [new Date(START_MS), new Date(START_MS + 2 * HOUR_MS)]
  const chargeOf = (value: bigint, fees: bigint) => ({
    transactionId: 'commit',
    spenders,
    charge: { network: NETWORK, amounts: [{ asset: 'native', value }], fees },
  })
  const { db } = database
  await db.transaction().execute((tx) => spend(tx, chargeOf(60n, 1n), now))
  await db.transaction().execute(async (tx) => {
    const ledger = await openLedger(tx, { now: later, transactionIds: ['commit'], limits })
    const [result] = ledger.raise({ transactionId: 'commit', fees: 11n, at: later })
    expect(result).toMatchObject({ allowed: false, rule: 'limits[0].fees' })
    // What it took two hours ago counts again from now on, and not against itself.
    expect(ledger.evaluate(chargeOf(70n, 2n))[0]?.detail).toContain('100 is left')
    ledger.reserve(chargeOf(70n, 2n))
    await ledger.save()
  })
  expect(await findHoldings(db, ['commit'])).toMatchObject([
    { at: later, most: spentOf(70, 11, 1), counted: spentOf(70, 11, 1) },
  ])
  const counter = { subject: 'key:commit', network: NETWORK, asset: 'native' }
  const spentIn = await readSpent(db, [{ counter, period: 'day' }], later)
  expect(spentIn(counter, 'day')).toEqual(spentOf(70, 11, 1))
})
