import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcess } from '../../../test/support/process.ts'
import { callService, type Service } from '../../../test/support/service.ts'

/** The service as a process of its own. It has another url after each kill. */
export interface KillableService extends Pick<Service, 'url' | 'api' | 'stop'> {
  /**
   * SIGKILL, also of the processes of its plugins, which nobody else ends; then it starts again with what it
   * stored.
   */
  kill(): Promise<void>
  /** SIGKILL of the processes of its plugins. */
  killPlugins(): void
}

/** Few are in flight, so that some must wait for their turn. */
const MAX_IN_FLIGHT = 4

/** Starts it with this configuration file. */
export async function startKillable(config: object): Promise<KillableService> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-fronts-'))
  const env = {
    RATE_LIMIT_REQUESTS_PER_SECOND: '100000',
    RATE_LIMIT_BURST_SIZE: '100000',
    RELAYER_MAX_IN_FLIGHT: String(MAX_IN_FLIGHT),
  }
  const start = () => startProcess({ rpcUrl: '', folder, config, env })
  let running = await start()
  return {
    get url() {
      return running.url
    },
    api: (method, path, body, headers) => callService(running.url, { method, path, body, headers }),
    killPlugins: () => {
      for (const pid of pluginProcesses(running.child.pid)) killIfAlive(pid)
    },
    kill: async () => {
      const orphans = pluginProcesses(running.child.pid)
      await running.kill()
      for (const pid of orphans) killIfAlive(pid)
      running = await start()
    },
    stop: async () => {
      await running.terminate()
      await rm(folder, { recursive: true })
    },
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended with the service.
  }
}

/** The processes of plugins that a service has started. */
function pluginProcesses(service: number | undefined): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const [, , , parent] = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/\(.*\)/, '()')
        .split(' ')
      const isPlugin = readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('plugin.mjs')
      return Number(parent) === service && isPlugin ? [Number(name)] : []
    } catch {
      return [] // It ended meanwhile.
    }
  })
}
