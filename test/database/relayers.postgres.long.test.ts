import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import type { Database, Db } from '../../src/database/db.ts'
import { createLogger } from '../../src/log.ts'
import { findRelayer, lockRelayer, removeRelayer, updateRelayer } from '../../src/relayers/store.ts'
import { createFunded, onAnvil, type Relayer, refusalOf, signersWith } from '../e2e/relayers/site.ts'
import { type Answer, RECEIVER, type Service, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type ServicePair, startServicePair } from './service-pair.ts'

let pair: ServicePair
let database: Database
let one: Service
let two: Service

beforeAll(async () => {
  pair = await startServicePair(signersWith(...'abcdefghi'))
  ;[one, two] = pair.services
  database = await openDatabase({ url: pair.databaseUrl, dataDir: '' }, createLogger({ level: 'silent' }))
}, 60_000)
afterAll(async () => {
  await database.close()
  await pair.stop()
})

const create = (service: Service, signer: string, id: string) =>
  service.api<Relayer>('POST', '/relayers', onAnvil(signer, { id }))
const send = (service: Service, id: string) =>
  service.api('POST', `/relayers/${id}/transactions`, { to: RECEIVER, value: 1 })

async function created(signer: string, id: string): Promise<Relayer> {
  return createFunded(one, pair.anvil, onAnvil(signer, { id }))
}

async function settled(id: string): Promise<Transaction[]> {
  return until(
    async () => {
      await pair.anvil.rpc('evm_mine')
      return (await two.api<Transaction[]>('GET', `/relayers/${id}/transactions?per_page=100`)).body.data
    },
    (all) => all.every(({ status }) => status === 'confirmed'),
  )
}

describe('two services on one PostgreSQL', () => {
  test('what one creates, changes and deletes, the other knows immediately', async () => {
    const relayer = await created('a', 'shared')
    expect((await two.api('GET', '/relayers/shared')).body.data).toEqual(relayer)
    expect((await send(two, 'shared')).status).toBe(200)
    await settled('shared')
    await two.api('PATCH', '/relayers/shared', { paused: true })
    expect((await send(one, 'shared')).body.code).toBe('relayer_paused')
    await one.api('PATCH', '/relayers/shared', {
      paused: false,
      custom_rpc_urls: [{ url: `${pair.anvil.url}/?x=1` }],
    })
    expect((await send(two, 'shared')).status).toBe(200)
    await settled('shared')
    expect((await one.api('DELETE', '/relayers/shared')).status).toBe(200)
    expect((await send(two, 'shared')).body.code).toBe('relayer_not_found')
  })

  test('one id is given once, and one account is operated once', async () => {
    const sameId = await Promise.all([create(one, 'b', 'same'), create(two, 'c', 'same')])
    expect(sameId.map(({ status }) => status).sort()).toEqual([201, 409])
    const sameAccount = await Promise.all([create(one, 'd', 'd-1'), create(two, 'd', 'd-2')])
    expect(sameAccount.map(({ status }) => status).sort()).toEqual([201, 400])
    const loser = sameAccount.find(({ status }) => status === 400)
    expect(loser && refusalOf(loser)).toMatchObject({ code: 'account_taken' })
  })

  test('changes at the same time are all made', async () => {
    await created('e', 'many')
    const policies = { gas_price_cap: 1, min_balance: 2, eip1559_pricing: true, gas_limit_estimation: false }
    await Promise.all(
      Object.entries(policies).map(([name, value], index) =>
        [one, two][index % 2]?.api('PATCH', '/relayers/many', { policies: { [name]: value } }),
      ),
    )
    expect((await one.api<Relayer>('GET', '/relayers/many')).body.data.policies).toEqual(policies)
  })

  test('a deletion and sends through both never leave a transaction without its relayer', async () => {
    await created('f', 'race')
    for (let round = 0; round < 8; round += 1) {
      const services = [one, two, one, two]
      const requests = services.map((service) => () => send(service, 'race') as Promise<Answer>)
      const at = round % (requests.length + 1)
      requests.splice(at, 0, () => (round % 2 === 0 ? one : two).api('DELETE', '/relayers/race'))
      const answers = await Promise.all(requests.map((request) => request()))
      const [deleted] = answers.splice(at, 1)
      const accepted = answers.filter(({ status }) => status === 200).length
      expect([deleted?.status, accepted > 0]).toEqual(deleted?.status === 200 ? [200, false] : [400, true])
      if (deleted?.status === 200) await create(one, 'f', 'race')
      else await settled('race')
    }
  }, 60_000)
})

/** Until someone waits for a lock that a third party holds. */
const somebodyWaits = () =>
  until(
    async () =>
      (await sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'`.execute(database.db)).rows,
    (rows) => rows.length > 0,
  )

describe('a deletion', () => {
  test('waits for who is storing a transaction, and finds it then', async () => {
    await created('g', 'held')
    const held = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const storing = database.db.transaction().execute(async (tx) => {
      await lockRelayer(tx, 'held', 'share')
      held.resolve()
      await go.promise
      await insertPending(tx, 'held')
    })
    await held.promise
    const deleting = one.api('DELETE', '/relayers/held')
    await somebodyWaits()
    go.resolve()
    await storing
    expect(refusalOf(await deleting)).toMatchObject({ code: 'relayer_has_transactions' })
    expect(await findRelayer(database.db, 'held')).toBeDefined()
  })

  test.each([
    ['paused', 'h', 'relayer_paused'],
    ['deleted', 'i', 'relayer_not_found'],
  ])(
    'that is under way is seen by a send that came before, and so is a pause: %s',
    async (deed, signer, code) => {
      await created(signer, deed)
      const held = Promise.withResolvers<void>()
      const go = Promise.withResolvers<void>()
      const changing = database.db.transaction().execute(async (tx) => {
        const relayer = await lockRelayer(tx, deed, 'update')
        if (relayer === undefined) throw new Error('it was created')
        if (deed === 'deleted') await removeRelayer(tx, deed)
        else await updateRelayer(tx, { ...relayer, paused: true })
        held.resolve()
        await go.promise
      })
      await held.promise
      const sending = send(two, deed)
      await somebodyWaits()
      go.resolve()
      await changing
      expect(refusalOf(await sending)).toMatchObject({ code })
      const { rows } = await sql`select 1 from transactions where relayer_id = ${deed}`.execute(database.db)
      expect(rows).toEqual([])
    },
  )
})

/** A transaction that no worker looks at within the test. */
async function insertPending(tx: Db, relayerId: string): Promise<void> {
  await sql`
    insert into transactions (id, relayer_id, network, from_address, status, purpose, request, next_run_at)
    values (${crypto.randomUUID()}, ${relayerId}, 'anvil', '0xA', 'pending', 'request',
      '{"type":"evm","value":{"$int":"0"},"speed":"fast"}', now() + interval '1 hour')`.execute(tx)
}
