import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../support/faulty-node.ts'
import { type Answer, callService, DEV_ADDRESSES, DEV_KEYS, type Transaction } from '../support/service.ts'
import { type Host, type HostOptions, hostInside, hostOutside } from './host.ts'
import { type Content, createContents } from './ledger.ts'

/** The relayers of the standard configuration with their accounts. */
export const ACCOUNTS = [
  { relayer: 'main', address: DEV_ADDRESSES[0], key: DEV_KEYS[0] },
  { relayer: 'other', address: DEV_ADDRESSES[1], key: DEV_KEYS[1] },
] as const

/** Blocks until a transaction is final; reorganisations and lags are kept shallower, as on an honest network. */
export const CONFIRMATIONS = 3

export interface WorldOptions {
  /** Whether the service has a process of its own, so that it can be killed. */
  readonly killable: boolean
  readonly endpoints: number
}

/** A chain, unreliable nodes in front of it, and the service: shared by many histories, because they are slow to make. */
export interface World {
  readonly anvil: Anvil
  readonly nodes: readonly FaultyNode[]
  readonly dataDir: string
  readonly newContent: () => Content
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

export async function startWorld({ killable, endpoints }: WorldOptions): Promise<World> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  // So many can be undone from the first step on.
  for (let count = 0; count < CONFIRMATIONS; count += 1) await anvil.rpc('evm_mine')
  const nodes = await Promise.all(Array.from({ length: endpoints }, () => startFaultyNode(anvil.url)))
  const dataDir = await mkdtemp(join(tmpdir(), 'relayer-faults-'))
  const logged = { text: '' }
  const start = killable ? hostOutside : hostInside
  let offsetMs = 0
  const open = () => start(hostOptions({ nodes, dataDir, offsetMs, logged }))
  let host: Host | undefined = await open()
  const stopService = async () => {
    const ending = host
    host = undefined
    await ending?.stop()
  }
  return {
    anvil,
    nodes,
    dataDir,
    logged,
    newContent: createContents(),
    now: () => Date.now() + offsetMs,
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
      await Promise.all(nodes.map((node) => node.stop()))
      await anvil.stop()
      await rm(dataDir, { recursive: true })
    },
  }
}

interface Place {
  readonly nodes: readonly FaultyNode[]
  readonly dataDir: string
  readonly offsetMs: number
  readonly logged: { text: string }
}

function hostOptions({ nodes, dataDir, offsetMs, logged }: Place): HostOptions {
  return {
    service: {
      rpcUrls: nodes.map((node) => node.url),
      dataDir,
      network: { required_confirmations: CONFIRMATIONS },
      // A request that is lost is given up soon: histories are short.
      env: { RPC_TIMEOUT_MS: '1000' },
    },
    clockOffsetMs: offsetMs,
    onLog: (text) => {
      logged.text += text
    },
  }
}
