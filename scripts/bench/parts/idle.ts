import { type Anvil, anvilNetwork } from '../../../test/support/anvil.ts'
import { startProcess } from '../../../test/support/process.ts'
import { type Row, single } from '../measurement.ts'
import { manyRelayers } from '../support/many-relayers.ts'
import { memoryOf } from '../support/process-usage.ts'
import { AS_IN_IMAGE, cpuMs, pause, withAnvil, withFolder } from '../support/stage.ts'

const NETWORKS = 5

/** The time between blocks in ms, as on most rollups. It sets how often the service asks. */
const BLOCK_MS = 2_000

/** The first health checks and the compiler are done after this time, in ms. */
const SETTLE_MS = 60_000

/** The CPU time of this period counts, in ms: two rounds of health checks. */
const PERIOD_MS = 60_000

/** Many relayers on five networks with the embedded database, and no one who sends anything. */
export async function benchIdle({ relayers }: { relayers: number }): Promise<Row[]> {
  return withFolder((folder) => withAnvil((anvil) => measure({ anvil, folder, relayers })))
}

interface Setup {
  readonly anvil: Anvil
  readonly folder: string
  readonly relayers: number
}

async function measure({ anvil, folder, relayers }: Setup): Promise<Row[]> {
  const started = performance.now()
  const networks = Array.from({ length: NETWORKS }, (_, index) =>
    anvilNetwork([anvil.url], { network: `net-${index}`, average_blocktime_ms: BLOCK_MS }),
  )
  const service = await startProcess({
    rpcUrl: anvil.url,
    folder,
    env: AS_IN_IMAGE,
    config: manyRelayers(relayers, networks),
  })
  const startSeconds = (performance.now() - started) / 1000
  try {
    await pause(SETTLE_MS)
    const before = await cpuMs(service)
    await pause(PERIOD_MS)
    const share = (100 * ((await cpuMs(service)) - before)) / PERIOD_MS
    const { resident } = await memoryOf(service)
    const what = `${relayers} idle relayers on ${NETWORKS} networks with blocks of 2 s`
    return [
      single(`${what}: CPU of one core`, share, { unit: '%', digits: 1, limit: 5 }),
      single(`${what}: resident`, resident, { unit: 'MB', limit: 350 }),
      single(`${what}: first start`, startSeconds, { unit: 's', digits: 1 }),
    ]
  } finally {
    await service.terminate()
  }
}
