import { type Answer, callService, type Transaction } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'
import { type Host, type HostOptions, hostInside, hostOutside } from './host.ts'
import { type Storage, type StorageKind, startStorage } from './storage.ts'
import type { TestChain } from './test-chain.ts'

export interface TestBedOptions {
  /** Whether the service has a process of its own, so that it can be killed. */
  readonly killable: boolean
  /** The processes of the service on one database. Default: 1. */
  readonly processes?: number
  /** Default: the embedded database. */
  readonly storage?: StorageKind
  /** Starts the chain. `now` is the time of the test bed, in ms since 1970. */
  readonly startTestChain: (now: () => number) => Promise<TestChain>
}

/** A chain, unreliable nodes in front of it, and the service: shared by many histories, because they are slow to make. */
export interface TestBed {
  readonly testChain: TestChain
  readonly storage: Pick<Storage, 'open'>
  /** Everything that the service wrote to its log. */
  readonly logged: { text: string }
  now(): number
  advance(ms: number): void
  /** Makes the service's time of day this far ahead of `now`, in ms. */
  setClock(aheadMs: number): void
  /** Calls the processes that listen in turn. Rejects while none listens. */
  api<Data = Transaction>(
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Answer<Data>>
  /** Ends a process, the next one each time, and starts it again. */
  restart(how: 'stop' | 'kill'): Promise<void>
  /** Kills every process, and starts them again after this time, in ms, which is over at once. */
  blackOut(ms: number): Promise<void>
  /** What a history needs from the beginning, such as a standby for the database. */
  prepare(): Promise<void>
  /** Kills the server of the database and promotes its standby; over when every process works on it. */
  failOver(): Promise<void>
  /** The database is expected to be away for moments. */
  readonly failsOver: boolean
  /** Ends the service and leaves the database. */
  stopService(): Promise<void>
  stop(): Promise<void>
}

export async function startTestBed({
  killable,
  processes = 1,
  storage: kind = 'embedded',
  startTestChain,
}: TestBedOptions): Promise<TestBed> {
  let offsetMs = 0
  let aheadMs = 0
  const now = () => Date.now() + offsetMs
  const testChain = await startTestChain(now)
  const storage = await startStorage(kind)
  const logged = { text: '' }
  const start = killable ? hostOutside : hostInside
  const open = () => start(hostOptions({ testChain, storage, offsetMs: offsetMs + aheadMs, logged }))
  /** One after the other, because the first one makes the tables. */
  const hosts: (Host | undefined)[] = []
  for (let count = 0; count < processes; count += 1) hosts.push(await open())
  const present = () => hosts.filter((host) => host !== undefined)
  let calls = 0
  let restarts = 0
  const stopService = async () => {
    const ending = present()
    hosts.fill(undefined)
    for (const host of ending) await host.stop()
  }
  return {
    testChain,
    storage,
    logged,
    now,
    failsOver: kind === 'replicated',
    advance: (ms) => {
      offsetMs += ms
      for (const host of present()) host.advance(ms)
    },
    setClock: (ms) => {
      for (const host of present()) host.step(ms - aheadMs)
      aheadMs = ms
    },
    api: async (method, path, body, headers) => {
      const listening = present()
      const host = listening[calls++ % listening.length]
      if (host === undefined) throw new Error('the service does not listen')
      return callService(host.url, { method, path, body, headers })
    },
    restart: async (how) => {
      const index = restarts++ % hosts.length
      const ending = hosts[index]
      if (how === 'stop') hosts[index] = undefined
      await (how === 'kill' ? ending?.kill() : ending?.stop())
      hosts[index] = await open()
    },
    blackOut: async (ms) => {
      const ending = present()
      hosts.fill(undefined)
      await Promise.all(ending.map((host) => host.kill()))
      offsetMs += ms
      for (const index of hosts.keys()) hosts[index] = await open()
    },
    prepare: () => storage.prepare(),
    failOver: async () => {
      await storage.failOver()
      await Promise.all(present().map(({ url }) => untilReady(url)))
    },
    stopService,
    stop: async () => {
      await stopService()
      await testChain.stop()
      await storage.stop()
    },
  }
}

async function untilReady(url: string): Promise<void> {
  await until(
    () => callService(url, { method: 'GET', path: '/ready' }),
    ({ status }) => status === 200,
  )
}

interface Location {
  readonly testChain: TestChain
  readonly storage: Storage
  readonly offsetMs: number
  readonly logged: { text: string }
}

function hostOptions({ testChain, storage, offsetMs, logged }: Location): HostOptions {
  return {
    service: { ...testChain.service, ...storage.service },
    clockOffsetMs: offsetMs,
    onLog: (text) => {
      logged.text += text
    },
  }
}
