import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { createFragileDisk, type FragileDisk } from '../support/disk/fragile-disk.ts'
import { type ServiceProcess, startProcess } from '../support/process.ts'
import { callService, RECEIVER, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Room for a database of 60 MB and the journal of the disk. */
const DISK_MB = 150

/** The requests that are under way together when the disk goes. */
const CONCURRENCY = 5

/** Time in ms within which a failure has to be answered. */
const AT_ONCE_MS = 2_000

const PATH = '/relayers/main/transactions'

let disk: FragileDisk
let folder: string
let anvil: Anvil

beforeEach(async () => {
  disk = createFragileDisk(DISK_MB)
  folder = await mkdtemp(join(tmpdir(), 'relayer-read-only-'))
  anvil = await startAnvil({ args: ['--block-time', '1'] })
})
afterEach(async () => {
  await anvil.stop()
  disk.remove()
  await rm(folder, { recursive: true })
})

const start = () =>
  startProcess({ rpcUrl: anvil.url, folder, env: { DATA_DIR: join(disk.path, 'data'), DURABILITY: 'full' } })
const send = ({ url }: ServiceProcess) =>
  callService<Transaction>(url, {
    method: 'POST',
    path: PATH,
    body: { to: RECEIVER, value: 1, gas_limit: 21_000 },
  })
const list = ({ url }: ServiceProcess) =>
  callService<Transaction[]>(url, { method: 'GET', path: `${PATH}?per_page=100` })

/** Sends until the service answers something else than 200, and returns the ids of what it accepted. */
async function sendUntilRefused(service: ServiceProcess): Promise<string[]> {
  const accepted: string[] = []
  for (;;) {
    const before = performance.now()
    const { status, body } = await send(service)
    expect(performance.now() - before).toBeLessThan(AT_ONCE_MS)
    if (status === 200) accepted.push(body.data.id)
    else {
      expect({ status, body }).toMatchObject({
        status: 500,
        body: { success: false, message: 'Internal Server Error' },
      })
      return accepted
    }
  }
}

test('a disk that goes read-only: 500 immediately, the process ends, and a start on the repaired disk has all that was accepted', async () => {
  const service = await start()
  const exited = once(service.child, 'exit')
  const refused = Promise.all(Array.from({ length: CONCURRENCY }, () => sendUntilRefused(service)))
  await until(
    () => list(service),
    ({ body }) => body.data.length >= CONCURRENCY,
  )
  disk.turnReadOnly()
  const accepted = (await refused).flat()
  expect(await exited).toEqual([1, null])

  await expect(start()).rejects.toThrow('EROFS')

  disk.repair()
  const again = await start()
  try {
    const { body } = await send(again)
    accepted.push(body.data.id)
    const listed = await until(
      () => list(again),
      (answer) => answer.body.data.every(({ status }) => status === 'confirmed'),
      { timeoutMs: 30_000 },
    )
    expect(listed.body.data.map(({ id }) => id).sort()).toEqual(accepted.sort())
  } finally {
    await again.kill()
  }
}, 120_000)
