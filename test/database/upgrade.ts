import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/engine.ts'
import { migrate } from '../../src/database/migrate.ts'
import { migrations } from '../../src/database/migrations/index.ts'
import { findRelayer } from '../../src/relayers/store.ts'
import { lockAccount } from '../../src/transactions/store/nonce-store.ts'
import { findTransaction } from '../../src/transactions/store/read-store.ts'
import { saveTransactions } from '../../src/transactions/store/transactions-store.ts'
import { measureInFlight } from '../../src/transactions/store/work-store.ts'
import { writerOf } from '../support/writer-of.ts'
import type { DatabaseUnderTest } from './conformance.ts'

const OLD_ADDRESS = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** What stands in the tables of a deployment that was never upgraded: two relayers, one of them with a history. */
const ROWS = [
  `insert into relayers (id, name, network, network_type, address, signer_id, paused, policies) values
    ('main', 'Main', 'anvil', 'evm', '${ADDRESS}', 'dev', false, '{"gasPriceCap":"340282366920938463463374607431768211455"}'),
    ('fresh', 'Fresh', 'anvil', 'evm', '${OLD_ADDRESS}', 'other', true, '{}')`,
  `insert into accounts (relayer_id, next_nonce) values ('main', 9007199254740995), ('fresh', null)`,
  `insert into transactions (id, relayer_id, network, from_address, status, intent, request, estimated_gas, nonce, version,
      current_attempt, cost, next_run_at, created_at, sent_at) values
    ('old', 'main', 'anvil', '${OLD_ADDRESS}', 'confirmed', 'request', '{"value":"0"}', null, 9007199254740993, 5, 1, 0,
      '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'),
    ('sent', 'main', 'anvil', '${ADDRESS}', 'submitted', 'request',
      '{"to":"${TO}","value":"340282366920938463463374607431768211455","speed":"fast"}', 21000, 9007199254740993, 4, 2,
      1000000000000000000000, '2026-01-02T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-02T00:00:01Z'),
    ('waiting', 'main', 'anvil', '${ADDRESS}', 'pending', 'request', '{"value":"1","gas_price":"7","data":"0xff"}', 21000,
      null, 1, null, 0, '2026-01-03T00:00:00Z', '2026-01-03T00:00:00Z', null)`,
  `insert into attempts (transaction_id, number, kind, nonce, hash, raw, draft, signature, outcome, signed_at) values
    ('old', 1, 'send', 9007199254740993, '0x01', '\\x01', '{"value":"0","data":"0x","gas_limit":"21000","gas_price":"7"}',
      '{"r":"a","s":"b","v":27,"sig":"ab1b"}', 'mined', '2026-01-01T00:00:00Z'),
    ('sent', 1, 'send', 9007199254740993, '0x02', '\\x02',
      '{"to":"${TO}","value":"1","data":"0x","gas_limit":"21000","max_fee_per_gas":"9","max_priority_fee_per_gas":"1"}',
      '{"r":"a","s":"b","v":1,"sig":"ab01"}', 'broadcast', '2026-01-02T00:00:00Z')`,
  `insert into events (relayer_id, transaction_id, type, payload) values ('main', 'waiting', 'transaction_update',
    '{"id":"waiting","intent":"filler","nonce":5,"request":{"value":"7","gas_price":"9","valid_until":"2026-01-01T00:00:00.000Z"}}')`,
]

const NONCE = 2n ** 53n + 1n

/** What an upgrade from the release before several lines must keep, on each engine. */
export function describeUpgrade(setUp: () => Promise<DatabaseUnderTest>): void {
  describe('a database of the release before several source accounts', () => {
    let underTest: DatabaseUnderTest
    let database: Database

    beforeAll(async () => {
      underTest = await setUp()
      database = await underTest.open()
      await migrateTo(database, '0002-finished-counts')
      for (const statement of ROWS) await sql.raw(statement).execute(database.db)
      expect(await migrate(database)).toContain('0003-lines')
    }, 60_000)

    afterAll(async () => {
      await database.close()
      await underTest.remove()
    })

    test('keeps its relayers', async () => {
      expect(await findRelayer(database.db, 'main')).toStrictEqual({
        id: 'main',
        name: 'Main',
        network: 'anvil',
        networkType: 'evm',
        address: ADDRESS,
        signerId: 'dev',
        paused: false,
        systemDisabled: false,
        policies: { gasPriceCap: 2n ** 128n - 1n },
      })
    })

    test('goes on counting where it was, for the account itself', async () => {
      const counters = (id: string) => database.db.transaction().execute((tx) => lockAccount(tx, id))
      expect(await counters('main')).toEqual(new Map([[ADDRESS, NONCE + 2n]]))
      expect(await counters('fresh')).toEqual(new Map())
    })

    test('has each numbered transaction with its sender as source account', async () => {
      const read = async (id: string) => (await findTransaction(database.db, 'main', id))?.transaction
      expect(await read('sent')).toMatchObject({
        status: 'submitted',
        from: ADDRESS,
        sourceAccount: ADDRESS,
        nonce: NONCE,
        version: 4,
        cost: 10n ** 21n,
        request: { type: 'evm', to: TO, value: 2n ** 128n - 1n, speed: 'fast' },
      })
      expect(await read('old')).toMatchObject({ sourceAccount: OLD_ADDRESS, nonce: NONCE })
      expect(await read('waiting')).toMatchObject({
        sourceAccount: undefined,
        nonce: undefined,
        request: { type: 'evm', value: 1n, gasPrice: 7n, data: '0xff' },
      })
      expect((await measureInFlight(database.db, 'main')).counts).toEqual(new Map([[ADDRESS, 1]]))
    })

    test('has every attempt, with its bytes and its source account', async () => {
      const item = await findTransaction(database.db, 'main', 'sent')
      expect(item?.attempts).toStrictEqual([
        {
          number: 1,
          kind: 'send',
          sourceAccount: ADDRESS,
          nonce: NONCE,
          draft: {
            type: 'evm',
            to: TO,
            value: 1n,
            data: '0x',
            gasLimit: 21_000n,
            fees: { kind: 'eip1559', maxFeePerGas: 9n, maxPriorityFeePerGas: 1n },
          },
          signed: {
            raw: Uint8Array.of(2),
            hash: '0x02',
            signature: { r: 'a', s: 'b', v: 1, sig: 'ab01' },
          },
          signedAt: new Date('2026-01-02T00:00:00Z'),
          outcome: 'broadcast',
        },
      ])
      expect((await findTransaction(database.db, 'main', 'old'))?.attempts).toMatchObject([
        { sourceAccount: OLD_ADDRESS, outcome: 'mined', draft: { fees: { kind: 'legacy', gasPrice: 7n } } },
      ])
    })

    test('has the row of each event under the present names, in the present form', async () => {
      const { rows } = await sql<{ payload: object }>`select payload from events`.execute(database.db)
      expect(rows).toEqual([
        {
          payload: {
            id: 'waiting',
            nonce: 5,
            purpose: 'gap_filler',
            source_account: null,
            request: {
              type: 'evm',
              value: { $int: '7' },
              gasPrice: { $int: '9' },
              validUntil: { $time: '2026-01-01T00:00:00.000Z' },
            },
          },
        },
      ])
    })

    test('still gives a nonce of a source account to one transaction (I2)', async () => {
      const waiting = (await findTransaction(database.db, 'main', 'waiting'))?.transaction
      if (!waiting) throw new Error('the transaction is gone')
      const number = (sourceAccount: string | undefined, nonce: bigint) =>
        database.db
          .transaction()
          .execute((tx) => saveTransactions(writerOf(tx), [{ ...waiting, sourceAccount, nonce }]))
      await expect(number(ADDRESS, NONCE)).rejects.toThrow('transactions_nonce')
      await expect(number(undefined, NONCE + 2n)).rejects.toThrow('transactions_source_account')
      expect(await number(ADDRESS, NONCE + 2n)).toHaveLength(1)
    })
  })
}

/** The tables as the release that ended with this migration left them. */
async function migrateTo({ db }: Database, last: string): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableName: 'schema_migrations',
    migrationLockTableName: 'schema_migrations_lock',
  })
  const { error } = await migrator.migrateTo(last)
  if (error) throw error
}
