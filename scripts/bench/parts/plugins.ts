import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ServiceProcess, startProcess } from '../../../test/support/process.ts'
import { API_KEY } from '../../../test/support/service.ts'
import { percentile, type Row, single } from '../measurement.ts'
import { drive, during, requestBytes } from '../support/load.ts'
import { becomes, portOf, WITHOUT_LIMITS, withFolder } from '../support/stage.ts'

const MEASURED_MS = 5_000

/** Other callers, who read a list as fast as they get it, leave the service as busy as two of them make it. */
const OTHERS = 2
const OTHERS_PAUSE_MS = 5

const NOTHING = 'export async function handler() {\n  return null\n}\n'

/** The time of a call of a plugin that does nothing, beside other load, and alone. */
export async function benchPlugins(): Promise<Row[]> {
  return withFolder(async (folder) => {
    const path = join(folder, 'nothing.ts')
    await writeFile(path, NOTHING)
    const config = { relayers: [], signers: [], networks: [], plugins: [{ id: 'nothing', path }] }
    const service = await startProcess({ rpcUrl: '', folder, config, env: WITHOUT_LIMITS })
    try {
      await becomes(() => isReady(service), 50)
      await callsOf(service, { ms: 2_000, others: 0 })
      const alone = await callsOf(service, { ms: MEASURED_MS, others: 0 })
      const busy = await callsOf(service, { ms: MEASURED_MS, others: OTHERS })
      const what = 'a call of a plugin that does nothing'
      return [
        single(`${what}, beside other load: p50`, percentile(busy, 0.5), { unit: 'ms', digits: 2, limit: 2 }),
        single(`${what}, beside other load: p95`, percentile(busy, 0.95), { unit: 'ms', digits: 2 }),
        single(`${what}, alone: p50`, percentile(alone, 0.5), { unit: 'ms', digits: 2 }),
      ]
    } finally {
      await service.terminate()
    }
  })
}

async function isReady({ url }: ServiceProcess): Promise<boolean> {
  const headers = { authorization: `Bearer ${API_KEY}` }
  const answer = await fetch(`${url}/api/v1/plugins/nothing`, { headers })
  return JSON.stringify(await answer.json()).includes('"status":"ready"')
}

async function callsOf(
  service: ServiceProcess,
  { ms, others }: { readonly ms: number; readonly others: number },
): Promise<number[]> {
  const port = portOf(service)
  const latencies: number[] = []
  const call = requestBytes('POST', '/api/v1/plugins/nothing/call', { key: API_KEY, body: { params: {} } })
  const list = requestBytes('GET', '/api/v1/relayers', { key: API_KEY })
  await Promise.all([
    drive({
      port,
      request: call,
      connections: 1,
      more: during(ms),
      onAnswer: (took) => latencies.push(took),
    }),
    others > 0 &&
      drive({ port, request: list, connections: others, more: during(ms), pauseMs: OTHERS_PAUSE_MS }),
  ])
  return latencies
}
