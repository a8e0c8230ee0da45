import { startProcess } from '../../../test/support/process.ts'
import { percentile, type Row, single } from '../measurement.ts'
import { drive, times } from '../support/load.ts'
import { portOf, sendRequest, WITHOUT_LIMITS, withAnvil, withFolder } from '../support/stage.ts'

/** The first requests of each start. */
const REQUESTS = 30
const STARTS = 3

/** The time until each of the first requests after a start is accepted, one at a time, with the embedded database. */
export async function benchFirstRequests(): Promise<Row[]> {
  const latencies = await withFolder((folder) =>
    withAnvil(async ({ url }) => {
      const all: number[] = []
      for (let start = 0; start < STARTS; start += 1) all.push(...(await firstRequests(url, folder)))
      return all
    }),
  )
  const what = `accepted, the first ${REQUESTS} requests of a start, one at a time, embedded`
  return [
    single(`${what}: p50`, percentile(latencies, 0.5), { unit: 'ms', digits: 1, limit: 15 }),
    single(`${what}: p95`, percentile(latencies, 0.95), { unit: 'ms', digits: 1, limit: 40 }),
  ]
}

async function firstRequests(rpcUrl: string, folder: string): Promise<number[]> {
  const service = await startProcess({ rpcUrl, folder, env: WITHOUT_LIMITS })
  try {
    const latencies: number[] = []
    await drive({
      port: portOf(service),
      request: sendRequest(),
      connections: 1,
      more: times(REQUESTS),
      onAnswer: (ms) => latencies.push(ms),
    })
    return latencies
  } finally {
    await service.terminate()
  }
}
