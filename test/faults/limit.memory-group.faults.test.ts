import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAnvil } from '../support/anvil.ts'
import { createMemoryGroup } from '../support/memory-group.ts'
import { type ServiceProcess, startProcess } from '../support/process.ts'
import { callService, RECEIVER, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'

/** The smallest container that the service is made for. */
const LIMIT_MB = 512

const SENDS = 3_000
const CONCURRENCY = 50

const PATH = '/relayers/main/transactions'
const ENV = {
  RELAYER_MAX_IN_FLIGHT: '10000',
  RATE_LIMIT_REQUESTS_PER_SECOND: '1000000',
  RATE_LIMIT_BURST_SIZE: '1000000',
}

test(`with the embedded database, the service starts and sends under full load in ${LIMIT_MB} MB`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'relayer-memory-'))
  mkdirSync(join(folder, 'data'))
  const memoryGroup = createMemoryGroup(LIMIT_MB)
  const anvil = await startAnvil({ args: ['--block-time', '1'] })
  let service: ServiceProcess | undefined
  try {
    service = await startProcess({ rpcUrl: anvil.url, folder, memoryGroup, env: ENV })
    const { url } = service
    const body = { to: RECEIVER, value: 1, gas_limit: 21_000 }
    let sent = 0
    const send = async () => {
      for (; sent < SENDS; ) {
        sent += 1
        expect((await callService(url, { method: 'POST', path: PATH, body })).status).toBe(200)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, send))
    await until(
      () =>
        callService<Transaction[]>(url, {
          method: 'GET',
          path: `${PATH}?status=confirmed&per_page=1`,
        }),
      (answer) => answer.body.pagination?.total_items === SENDS,
      { timeoutMs: 120_000 },
    )
    expect(await service.terminate()).toBe(0)
  } finally {
    await service?.kill()
    await anvil.stop()
    memoryGroup.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}, 300_000)
