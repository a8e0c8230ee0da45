import { percentile, type Row, single } from '../measurement.ts'
import { startHealthProber } from '../support/health-prober.ts'
import { measureSustained, portOf, withService } from '../support/stage.ts'

/** The time of `GET /health` while the service sends at full load, with the embedded database. */
export async function benchHealth({ transactions }: { transactions: number }): Promise<Row[]> {
  const latencies = await withService({ way: 'direct' }, async (stage) => {
    const prober = startHealthProber(portOf(stage.service))
    await measureSustained(stage, transactions)
    return prober.stop()
  })
  const what = 'GET /health under full send load, embedded'
  return [
    single(`${what}: p50`, percentile(latencies, 0.5), { unit: 'ms', digits: 1 }),
    single(`${what}: p99`, percentile(latencies, 0.99), { unit: 'ms', digits: 1, limit: 20 }),
  ]
}
