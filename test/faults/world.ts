import { rm } from 'node:fs/promises'
import { createDataDir } from '../support/data-dir.ts'
import { type Answer, callService, type Transaction } from '../support/service.ts'
import { type Host, type HostOptions, hostInside, hostOutside } from './host.ts'
import type { Site } from './site.ts'

export interface WorldOptions {
  /** Whether the service has a process of its own, so that it can be killed. */
  readonly killable: boolean
  /** Starts the chain. `now` is the time of the world, in ms since 1970. */
  readonly startSite: (now: () => number) => Promise<Site>
}

/** A chain, unreliable nodes in front of it, and the service: shared by many histories, because they are slow to make. */
export interface World {
  readonly site: Site
  readonly dataDir: string
  /** Everything that the service wrote to its log. */
  readonly logged: { text: string }
  now(): number
  advance(ms: number): void
  /** Rejects while the service does not listen. */
  api<Data = Transaction>(method: string, path: string, body?: object): Promise<Answer<Data>>
  restart(how: 'stop' | 'kill'): Promise<void>
  /** Ends the service and leaves the database. */
  stopService(): Promise<void>
  stop(): Promise<void>
}

export async function startWorld({ killable, startSite }: WorldOptions): Promise<World> {
  let offsetMs = 0
  const now = () => Date.now() + offsetMs
  const site = await startSite(now)
  const dataDir = await createDataDir()
  const logged = { text: '' }
  const start = killable ? hostOutside : hostInside
  const open = () => start(hostOptions({ site, dataDir, offsetMs, logged }))
  let host: Host | undefined = await open()
  const stopService = async () => {
    const ending = host
    host = undefined
    await ending?.stop()
  }
  return {
    site,
    dataDir,
    logged,
    now,
    advance: (ms) => {
      offsetMs += ms
      host?.advance(ms)
    },
    api: async (method, path, body) => {
      if (host === undefined) throw new Error('the service does not listen')
      return callService(host.url, { method, path, body })
    },
    restart: async (how) => {
      if (how === 'kill') await host?.kill()
      else await stopService()
      host = await open()
    },
    stopService,
    stop: async () => {
      await stopService()
      await site.stop()
      await rm(dataDir, { recursive: true })
    },
  }
}

interface Location {
  readonly site: Site
  readonly dataDir: string
  readonly offsetMs: number
  readonly logged: { text: string }
}

function hostOptions({ site, dataDir, offsetMs, logged }: Location): HostOptions {
  return {
    service: { ...site.service, dataDir },
    clockOffsetMs: offsetMs,
    onLog: (text) => {
      logged.text += text
    },
  }
}
