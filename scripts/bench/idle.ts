import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAnvil } from '../../test/support/anvil.ts'
import { anvilNetwork, ON_ANVIL } from '../../test/support/anvil-config.ts'
import { plainSigner } from '../../test/support/plain-signer.ts'
import { startProcess } from '../../test/support/process.ts'
import { atMost, type Measurement } from './measurement.ts'
import { memoryOf } from './process-usage.ts'
import { cpuMs } from './send.ts'

const NETWORKS = 5

/** The time between blocks in ms, as on most rollups. It sets how often the service asks. */
const BLOCK_MS = 2_000

/** The first health checks and the compiler are done after this time, in ms. */
const SETTLE_MS = 60_000

/** The CPU time of this period counts, in ms: two rounds of health checks. */
const PERIOD_MS = 60_000

/** Many relayers on five networks with the embedded database, and nobody who sends anything. */
export async function benchIdle({ relayers }: { relayers: number }): Promise<Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-idle-'))
  const anvil = await startAnvil({ args: ['--block-time', '1'] })
  try {
    const started = performance.now()
    const service = await startProcess({ rpcUrl: anvil.url, folder, config: configOf(relayers, anvil.url) })
    const startSeconds = (performance.now() - started) / 1000
    try {
      await pause(SETTLE_MS)
      const before = await cpuMs(service)
      await pause(PERIOD_MS)
      const share = (100 * ((await cpuMs(service)) - before)) / PERIOD_MS
      const { resident } = await memoryOf(service)
      const what = `${relayers} idle relayers`
      return [
        {
          what: `${what}, CPU of one core`,
          ours: `${share.toFixed(1)} %`,
          value: share,
          budget: atMost(5, '%'),
        },
        {
          what: `${what}, resident`,
          ours: `${resident.toFixed(0)} MB`,
          value: resident,
          budget: atMost(350, 'MB'),
        },
        { what: `${what}, first start`, ours: `${startSeconds.toFixed(1)} s`, value: startSeconds },
      ]
    } finally {
      await service.terminate()
    }
  } finally {
    await anvil.stop()
    await rm(folder, { recursive: true })
  }
}

function configOf(count: number, rpcUrl: string) {
  const numbers = Array.from({ length: count }, (_, index) => index)
  return {
    networks: Array.from({ length: NETWORKS }, (_, index) =>
      anvilNetwork([rpcUrl], { network: `net-${index}`, average_blocktime_ms: BLOCK_MS }),
    ),
    signers: numbers.map((index) => plainSigner(`signer-${index}`, keyOf(index))),
    relayers: numbers.map((index) => ({
      id: `relayer-${index}`,
      name: `Relayer ${index}`,
      signer_id: `signer-${index}`,
      ...ON_ANVIL,
      network: `net-${index % NETWORKS}`,
    })),
  }
}

/** A key of its own for each: any number below the order of the curve is one. */
function keyOf(index: number): string {
  return `0x${(index + 1).toString(16).padStart(64, '0')}`
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
