import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { createLogger } from '../../src/log.ts'
import { lockRelayer } from '../../src/relayers/store.ts'
import { insertTransactions } from '../../src/transactions/store/transactions-store.ts'
import { requestOf } from '../chains/evm/build.ts'
import { startAnvil } from '../support/anvil.ts'
import { startPostgres } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const PHRASE = 'test test test test test test test test test test test junk'
const SEED = { id: 'seed', type: 'mnemonic', config: { mnemonic: { type: 'plain', value: PHRASE } } }
const POOL = { id: 'pool', network: 'anvil', network_type: 'evm', signer_id: 'seed' }

test('a relayer is not deleted while another process stores a transaction of a further account', async () => {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  onTestFinished(() => anvil.stop())
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  const databaseUrl = await postgres.createDatabase()
  const service = await startService({
    rpcUrls: [anvil.url],
    databaseUrl,
    signers: [SEED],
    relayers: [{ ...POOL, accounts: [{ signer_id: 'seed', count: 2 }] }],
  })
  onTestFinished(() => service.stop())
  const { db, close } = await openDatabase(
    { url: databaseUrl, dataDir: '' },
    createLogger({ level: 'silent' }),
  )
  onTestFinished(close)
  const { id, address } = await db
    .selectFrom('relayers')
    .select(['id', 'address'])
    .where('id', 'like', 'pool/%')
    .executeTakeFirstOrThrow()
  const now = new Date()
  const deleted = await db.transaction().execute(async (tx) => {
    await lockRelayer(tx, id, 'share')
    await insertTransactions(tx, [
      {
        id: crypto.randomUUID(),
        relayerId: id,
        network: 'anvil',
        from: address,
        status: 'pending',
        createdAt: now,
        request: requestOf(),
        purpose: 'request',
        version: 1,
        cost: 0n,
        nextRunAt: now,
      },
    ])
    const answer = service.api<string>('DELETE', '/relayers/pool')
    await until(
      () => sql<{ count: bigint }>`select count(*) from pg_locks where not granted`.execute(db),
      ({ rows }) => Number(rows[0]?.count) > 0,
    )
    return { answer }
  })
  expect((await deleted.answer).body.code).toBe('relayer_has_transactions')
})
