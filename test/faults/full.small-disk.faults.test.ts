import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPGlite } from '../../src/database/engines/embedded/pglite.ts'
import { startAnvil } from '../support/anvil.ts'
import { createSmallDisk, type SmallDisk } from '../support/disk/small-disk.ts'
import { type ServiceProcess, startProcess } from '../support/process.ts'
import { callService, RECEIVER, type Transaction } from '../support/service.ts'

/** Room for a database of 60 MB. */
const DISK_MB = 100

/** The number of requests that find no room, before there is room again. */
const FAILURES = 5

let disk: SmallDisk

beforeEach(() => {
  disk = createSmallDisk(DISK_MB)
})
afterEach(() => disk.remove())

const PATH = '/relayers/main/transactions'
const send = ({ url }: ServiceProcess) =>
  callService<Transaction>(url, {
    method: 'POST',
    path: PATH,
    body: { to: RECEIVER, value: 1, gas_limit: 21_000 },
  })

/** The ids of all transactions. */
async function listed({ url }: ServiceProcess): Promise<string[]> {
  const ids: string[] = []
  for (let page = 1; ; page += 1) {
    const path = `${PATH}?per_page=100&page=${page}`
    const { body } = await callService<Transaction[]>(url, { method: 'GET', path })
    if (body.data.length === 0) return ids
    ids.push(...body.data.map(({ id }) => id))
  }
}

test('a full disk: 500 immediately, nothing half written, and 200 again as soon as there is room', async () => {
  const anvil = await startAnvil({ args: ['--block-time', '1'] })
  const service = await startProcess({ rpcUrl: anvil.url, folder: join(disk.path, 'service') })
  try {
    const accepted = [(await send(service)).body.data.id]
    disk.fill()
    // After a failure, pages that exist may still have room for a request.
    for (let failures = 0; failures < FAILURES; ) {
      const answer = await send(service)
      if (answer.status === 200) accepted.push(answer.body.data.id)
      else {
        failures += 1
        expect(answer).toMatchObject({
          status: 500,
          body: { success: false, message: 'Internal Server Error' },
        })
      }
    }
    disk.free()
    const again = await send(service)
    expect(again.status).toBe(200)
    accepted.push(again.body.data.id)
    expect((await listed(service)).sort()).toEqual(accepted.sort())
  } finally {
    await service.kill()
    await anvil.stop()
  }
}, 120_000)

interface Told {
  readonly kind: 'ready' | 'stored' | 'failed'
  readonly number?: number
  readonly name?: string
}

test('a disk without room for the log: calls fail immediately, the process ends, and what was answered is there', async () => {
  const dataDir = join(disk.path, 'data')
  const child = fork(new URL('./lost-log-child.ts', import.meta.url), [dataDir], {
    silent: true,
    execArgv: [],
  })
  const told: Told[] = []
  child.on('message', (message) => told.push(message as Told))
  const exited = once(child, 'exit')
  await once(child, 'message')
  disk.fill()
  child.send('go')
  const [code] = await exited
  expect(code).toBe(1)
  const failures = told.filter(({ kind }) => kind === 'failed').map(({ name }) => name)
  expect(failures.slice(0, 2)).toEqual(['error', 'LogLostError'])
  const stored = told.findLast(({ kind }) => kind === 'stored')?.number
  disk.free()
  const database = await openPGlite({ dataDir, durability: 'full' })
  const { rows } = await sql`select text, count(*)::int as count from log group by text`.execute(database.db)
  expect(rows).toEqual([{ text: `${stored} `.repeat(100), count: 1000 }])
  await database.close()
}, 120_000)
