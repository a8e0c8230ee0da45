import { rm } from 'node:fs/promises'
import { createDataDir } from '../../test/support/data-dir.ts'
import { type Answer, callService, type Transaction } from '../../test/support/service.ts'
import { type Host, type HostOptions, hostInside, hostOutside } from './host.ts'
import type { TestChain } from './test-chain.ts'

export interface TestBedOptions {
  /** Whether the service has a process of its own, so that it can be killed. */
  readonly killable: boolean
  /** Starts the chain. `now` is the time of the test bed, in ms since 1970. */
  readonly startTestChain: (now: () => number) => Promise<TestChain>
}

/** A chain, unreliable nodes in front of it, and the service: shared by many histories, because they are slow to make. */
export interface TestBed {
  readonly testChain: TestChain
  readonly dataDir: string
  /** Everything that the service wrote to its log. */
  readonly logged: { text: string }
  now(): number
  advance(ms: number): void
  /** Makes the service's time of day this far ahead of `now`, in ms. */
  setClock(aheadMs: number): void
  /** Rejects while the service does not listen. */
  api<Data = Transaction>(method: string, path: string, body?: object): Promise<Answer<Data>>
  restart(how: 'stop' | 'kill'): Promise<void>
  /** Ends the service and leaves the database. */
  stopService(): Promise<void>
  stop(): Promise<void>
}

export async function startTestBed({ killable, startTestChain }: TestBedOptions): Promise<TestBed> {
  let offsetMs = 0
  let aheadMs = 0
  const now = () => Date.now() + offsetMs
  const testChain = await startTestChain(now)
  const dataDir = await createDataDir()
  const logged = { text: '' }
  const start = killable ? hostOutside : hostInside
  const open = () => start(hostOptions({ testChain, dataDir, offsetMs: offsetMs + aheadMs, logged }))
  let host: Host | undefined = await open()
  const stopService = async () => {
    const ending = host
    host = undefined
    await ending?.stop()
  }
  return {
    testChain,
    dataDir,
    logged,
    now,
    advance: (ms) => {
      offsetMs += ms
      host?.advance(ms)
    },
    setClock: (ms) => {
      host?.step(ms - aheadMs)
      aheadMs = ms
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
      await testChain.stop()
      await rm(dataDir, { recursive: true })
    },
  }
}

interface Location {
  readonly testChain: TestChain
  readonly dataDir: string
  readonly offsetMs: number
  readonly logged: { text: string }
}

function hostOptions({ testChain, dataDir, offsetMs, logged }: Location): HostOptions {
  return {
    service: { ...testChain.service, dataDir },
    clockOffsetMs: offsetMs,
    onLog: (text) => {
      logged.text += text
    },
  }
}
