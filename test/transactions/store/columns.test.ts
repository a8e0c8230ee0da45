import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Attempt } from '../../../src/chains/attempt.ts'
import type { EvmAttempt } from '../../../src/chains/evm/types.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { findAttempts, insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import {
  ATTEMPT_COLUMNS,
  COLUMNS_OF_QUERIES,
  columnsOf,
  encodeColumns,
  TRANSACTION_COLUMNS,
} from '../../../src/transactions/store/codec.ts'
import { readSnapshots } from '../../../src/transactions/store/event-payload-store.ts'
import { saveTransactions } from '../../../src/transactions/store/transactions-store.ts'
import { attemptOf, eip1559, requestOf } from '../../chains/evm/build.ts'
import { type Fixture, insert, newTransaction, openFixture, reload, type TestAccount } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
let owner: TestAccount
beforeAll(async () => {
  fixture = await openFixture()
  owner = await fixture.addAccount({ chain: chainOf(createStubChain()) })
})
afterAll(() => fixture.close())

test.each([
  ['transactions', TRANSACTION_COLUMNS, COLUMNS_OF_QUERIES.transactions],
  ['attempts', ATTEMPT_COLUMNS, COLUMNS_OF_QUERIES.attempts],
] as const)(
  'the table %s has the columns of its records, with their types, and those of queries',
  async (table, columns, ofQueries) => {
    const { rows } = await sql<{ name: string; type: string }>`
    select column_name as name, replace(data_type, 'timestamp with time zone', 'timestamptz') as type
    from information_schema.columns where table_schema = 'public' and table_name = ${table}`.execute(
      fixture.database.db,
    )
    const types = Object.fromEntries(rows.map(({ name, type }) => [name, type]))
    expect(types).toEqual({
      ...Object.fromEntries(ofQueries.map((name) => [name, expect.any(String)])),
      ...Object.fromEntries(Object.entries(columns).map(([name, { type }]) => [name, type])),
    })
  },
)

/** Every field of a record with a value: a new field does not compile before it has one. */
type Complete<Record> = { [Field in keyof Record]-?: NonNullable<Record[Field]> }

/** A time of its own for each field. */
const at = (second: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, second, 678))

/** A transaction with all fields, in which none has the value of another one. */
function complete(change: Partial<Transaction> = {}): Transaction {
  const { id, relayerId, network } = newTransaction(owner)
  const every: Complete<Transaction> = {
    id,
    relayerId,
    network,
    from: owner.relayer.address,
    status: 'pending',
    statusReason: 'because',
    createdAt: at(1),
    sentAt: at(2),
    confirmedAt: at(3),
    request: requestOf({ value: 2n ** 128n - 1n, data: '0xff', gasLimit: 2n ** 63n - 1n, validFrom: at(4) }),
    purpose: 'request',
    estimatedGas: 2n ** 63n - 1n,
    sourceAccount: '0xa',
    nonce: 2n ** 53n + 1n,
    version: 1,
    currentAttempt: 3,
    cost: 2n ** 200n + 1n,
    isBudgeted: true,
    topUpOf: 'filled',
    scheduleId: 'weekly',
    requestedBy: 'shop',
    lane: 'slow',
    reference: 'invoice-7',
    description: 'a report',
    userId: 'user-7',
    traceParent: '00-1-2-00',
    awaitsApproval: true,
    awaitsPrice: true,
    after: {
      transactionId: id,
      relayerId,
      state: 'mined',
      onFailure: 'send',
      expiresAt: at(11).toISOString(),
    },
    awaitsTransaction: id,
    releasedAt: at(30),
    block: { number: 2n ** 53n + 3n, hash: '0xb', time: at(5) },
    nextRunAt: at(6),
    undecidedSince: at(7),
    stuckSince: at(8),
    isPrivate: true,
    privateSinceBlock: 2n ** 53n + 5n,
    madePublicAt: at(9),
    reorganizedAt: at(10),
    statedHash: '0xc',
  }
  return { ...every, ...change }
}

/** Other values of all fields that can change. */
const CHANGED: Partial<Transaction> = {
  statusReason: 'otherwise',
  sentAt: at(12),
  confirmedAt: at(13),
  request: requestOf({ value: 3n, validFrom: at(14) }),
  purpose: 'successor',
  estimatedGas: 2n ** 63n - 2n,
  sourceAccount: '0xd',
  nonce: 2n ** 53n + 11n,
  currentAttempt: 4,
  cost: 2n ** 200n + 3n,
  block: { number: 2n ** 53n + 13n, hash: '0xe', time: at(15) },
  nextRunAt: at(16),
  undecidedSince: at(17),
  stuckSince: at(18),
  privateSinceBlock: 2n ** 53n + 15n,
  madePublicAt: at(19),
  reorganizedAt: at(20),
  statedHash: '0xf',
}

test('a new transaction has every field after it was stored, exactly (I10)', async () => {
  const transaction = complete()
  await insert(fixture.context, transaction)
  expect((await reload(fixture.context, transaction)).transaction).toEqual(transaction)
})

test('a changed transaction has every field after it was saved, and each event shows those of its time', async () => {
  const transaction = complete({ nonce: 1n })
  await insert(fixture.context, transaction)
  const changed = { ...transaction, ...CHANGED }
  await fixture.context.db.transaction().execute((tx) => saveTransactions(tx, [changed]))
  expect((await reload(fixture.context, transaction)).transaction).toEqual({ ...changed, version: 2 })

  const { rows } = await sql<{ number: bigint }>`
    select number from events where transaction_id = ${transaction.id} order by number`.execute(
    fixture.database.db,
  )
  const shown = columnsOf('fixed', 'content', 'state')
  const snapshots = await readSnapshots(
    fixture.database.db,
    rows.map(({ number }) => ({ number, transactionId: transaction.id })),
  )
  expect(
    rows.map(({ number }) => {
      const snapshot = snapshots.get(number)
      return snapshot && encodeColumns(snapshot.transaction, shown)
    }),
  ).toEqual([encodeColumns(transaction, shown), encodeColumns(changed, shown)])
})

test('an attempt has every field after it was stored', async () => {
  const [transaction] = await insert(fixture.context, newTransaction(owner))
  if (transaction === undefined) throw new Error('nothing was stored')
  const { signed, draft } = attemptOf(eip1559(10n, 1n))
  const attempt: Complete<EvmAttempt> = {
    number: 1,
    kind: 'send',
    sourceAccount: '0xa',
    nonce: 2n ** 53n + 1n,
    draft,
    signed: { ...signed, raw: Uint8Array.of(0, 92, 255), hash: '0x1', innerHash: '0x2' },
    signedAt: at(1),
    broadcastAt: at(2),
    outcome: 'mined',
    error: 'refused before',
    refusals: 2,
    result: { gasUsed: 2n ** 60n + 1n },
  } satisfies Complete<Attempt>
  await fixture.context.db
    .transaction()
    .execute((tx) => insertAttempts(tx, [{ transactionId: transaction.id, attempt }]))
  expect((await findAttempts(fixture.database.db, [transaction])).get(transaction.id)).toEqual([attempt])
  expect((await reload(fixture.context, transaction)).attempts).toEqual([attempt])
})
