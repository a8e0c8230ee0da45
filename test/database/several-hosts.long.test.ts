import { once } from 'node:events'
import { createServer } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import type { Database } from '../../src/database/db.ts'
import { isRetryable } from '../../src/database/errors.ts'
import { notify } from '../../src/database/sql-helpers.ts'
import { createLogger } from '../../src/log.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { freePort } from '../support/free-port.ts'
import { createPostgres, type LatePostgres } from '../support/postgres.ts'
import { scenarioOf } from '../support/scenario.ts'
import { startService, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'

const log = createLogger({ level: 'silent' })

let anvil: Anvil
let primary: LatePostgres
let standby: LatePostgres

beforeAll(async () => {
  anvil = await startAnvil()
  primary = await createPostgres()
  await primary.start()
  standby = await primary.startStandby()
}, 60_000)
afterAll(async () => {
  await standby.stop()
  await primary.stop()
  await anvil.stop()
})

const hostOf = (url: string) => new URL(url).host
const urlOf = (hosts: readonly string[], query = '') =>
  `postgres://postgres@${hosts.join(',')}/postgres${query}`

async function open(url: string): Promise<Database> {
  const database = await openDatabase({ url, dataDir: '' }, log)
  onTestFinished(() => database.close())
  return database
}

/** The port of the server that answers, and the property by which it was chosen. */
async function answering({ db }: Database) {
  const { rows } = await sql<{ port: string; reads: boolean }>`
    select current_setting('port') as port, pg_is_in_recovery() as reads`.execute(db)
  return rows[0]
}

test.each([
  ['', 'several hosts without a word'],
  ['?target_session_attrs=read-write', 'read-write'],
  ['?target_session_attrs=primary', 'primary'],
  ['?load_balance_hosts=random', 'a random beginning'],
])('the host that takes writes is used, of several: %s (%s)', async (query) => {
  const dead = `127.0.0.1:${await freePort()}`
  const database = await open(urlOf([dead, hostOf(standby.url), hostOf(primary.url)], query))
  const answers = await Promise.all(Array.from({ length: 10 }, () => answering(database)))
  expect(new Set(answers.map((one) => one?.port))).toEqual(new Set([new URL(primary.url).port]))
})

test('hosts can be parameters, and a single host is asked for its property, too', async () => {
  const ports = [standby, primary].map(({ url }) => new URL(url).port).join(',')
  const database = await open(`postgres://postgres@/postgres?host=127.0.0.1,127.0.0.1&port=${ports}`)
  expect(await answering(database)).toEqual({ port: new URL(primary.url).port, reads: false })
  expect(await answering(await open(urlOf([hostOf(standby.url)])))).toMatchObject({ reads: true })
  await expect(open(urlOf([hostOf(standby.url)], '?target_session_attrs=primary'))).rejects.toThrow(
    'is a standby',
  )
})

test('a server that takes the connection and says nothing is left for the next one', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as { port: number }
  const database = await open(urlOf([`127.0.0.1:${port}`, hostOf(primary.url)], '?connect_timeout=1'))
  expect(await answering(database)).toMatchObject({ reads: false })
})

test('a server that works on a statement for long, and takes connections meanwhile, is waited for', async () => {
  const { db } = await open(urlOf([hostOf(primary.url), hostOf(standby.url)], '?connect_timeout=1'))
  const { rows } = await sql<{ done: boolean }>`select pg_sleep(7) is not null as done`.execute(db)
  expect(rows).toEqual([{ done: true }])
})

test('where no host can be used, the error names each with its reason, and waiting may help', async () => {
  const dead = `127.0.0.1:${await freePort()}`
  const error: unknown = await open(
    `postgres://postgres:secret@${dead},${hostOf(standby.url)}/postgres`,
  ).catch((thrown) => thrown)
  expect(String(error)).toContain(`${dead}: connect ECONNREFUSED`)
  expect(String(error)).toContain(`${hostOf(standby.url)}: takes no writes`)
  expect(String(error)).not.toContain('secret')
  expect(isRetryable(error)).toBe(true)
})

test('a refused user or a missing database is told immediately, and not asked for elsewhere', async () => {
  const url = `postgres://postgres@${hostOf(primary.url)},${hostOf(standby.url)}/nowhere`
  await expect(openDatabase({ url, dataDir: '', waitMs: 600_000 }, log)).rejects.toThrow('does not exist')
})

test('after a fail-over to the other host nothing is lost, nothing is doubled, and requests are accepted within seconds', async () => {
  const databaseUrl = urlOf([hostOf(primary.url), hostOf(standby.url)])
  const service = await startService({ rpcUrls: [anvil.url], databaseUrl })
  const listening = await open(databaseUrl)
  const heard: string[] = []
  await listening.listen('fail-over', (payload) => heard.push(payload))
  const accepted: string[] = []
  const receiver = (index: number) => `0x${(0x4000_0000 + index).toString(16).padStart(40, '0')}`
  const send = async (index: number) => {
    const body = { to: receiver(index), value: 1 }
    const headers = { 'idempotency-key': `fail-over-${index}` }
    const answer = await service.api<Transaction>('POST', '/relayers/main/transactions', body, headers)
    if (answer.status === 200) accepted.push(answer.body.data.id)
    return answer.status
  }
  let sent = 0
  const sendMany = (count: number) => Promise.all(Array.from({ length: count }, () => send(sent++)))
  try {
    expect(new Set(await sendMany(20))).toEqual(new Set([200]))
    const during = sendMany(20)
    await primary.crash()
    await during
    expect(new Set(await sendMany(5))).toEqual(new Set([503]))
    const listed = await service.api('GET', '/relayers/main/transactions')
    expect([listed.status, listed.body.code, listed.headers.get('retry-after')]).toEqual([
      503,
      'database_unavailable',
      '1',
    ])
    // The interface has no 503 for this one.
    const relayers = await service.api('GET', '/relayers')
    expect([relayers.status, relayers.body.code]).toEqual([500, 'database_unavailable'])
    const promotedAt = BigInt(Date.now()) * 1_000n
    await standby.promote()
    await until(
      () => sendMany(1),
      ([status]) => status === 200,
      { timeoutMs: 15_000 },
    )
    expect(new Set(await sendMany(20))).toEqual(new Set([200]))
    await scenarioOf(anvil, service).settle()
    // What was not answered with 200 may have been accepted, and then happens once as well.
    const balances = await Promise.all(
      Array.from({ length: sent }, (_, index) =>
        anvil.rpc<string>('eth_getBalance', [receiver(index), 'latest']),
      ),
    )
    expect(balances.every((balance) => BigInt(balance) <= 1n)).toBe(true)
    for (const id of accepted) {
      const { body } = await service.api<Transaction>('GET', `/relayers/main/transactions/${id}`)
      expect(body.data.status).toBe('confirmed')
    }
    // A standby may lack the last events, and no one gets others under their numbers.
    const { rows } = await sql<{ before: bigint; after: bigint }>`
      select max(number) filter (where number < ${promotedAt}) as before, min(number) filter (where number > ${promotedAt}) as after
      from events`.execute(listening.db)
    expect(rows[0]?.before).toBeLessThan(1_000n)
    expect(rows[0]?.after).toBeGreaterThan(promotedAt)
    // The connection that listens came over, too.
    await until(
      async () => heard,
      (all) => all.includes(''),
    )
    await notify(listening.db, 'fail-over', 'again')
    await until(
      async () => heard,
      (all) => all.includes('again'),
    )
  } finally {
    await service.stop()
  }
}, 90_000)
