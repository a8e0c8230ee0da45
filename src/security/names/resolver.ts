import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { limitConcurrency } from '../../lib/concurrency/limit-concurrency.ts'
import { createFileReader } from './file-reader.ts'
import { parseHosts } from './hosts-file.ts'
import { createNameMemory } from './memory.ts'
import { NameError } from './name-error.ts'
import { type NameAnswer, queryAddresses } from './query.ts'
import { fullNames, parseSearchDomains } from './search-domains.ts'

/** Finds the addresses of host names. */
export interface NameResolver {
  /** @throws NameError */
  resolve(host: string): Promise<readonly LookupAddress[]>
}

export interface NameResolverOptions {
  /** `address` or `address:port` of each name server. Default: those of the system. */
  readonly servers?: readonly string[] | undefined
  /** The longest that a name may take, in ms. Default 5000: a delivery whose name is slow still has time for its request. */
  readonly timeoutMs?: number
  /** Default `/etc/hosts`. */
  readonly hostsFile?: string
  /**
   * Asks `getaddrinfo` where the name servers know no address. Only it knows the other sources of the system (nsswitch.conf). It takes a
   * thread of the process for as long as it likes, so it is for names that the operator chose.
   */
  readonly asksSystem?: true
}

const TIMEOUT_MS = 5_000

/** This many names may wait for their answers at the same time. A query is a socket without a thread, so the number can be high. */
const MAX_QUERIES = 512

/**
 * This many names are asked within `BURST_MS`. Each sends two datagrams at once, and a name server that gets a few hundred together drops
 * the rest of them.
 */
const BURST = 64
const BURST_MS = 100

/** RFC 6761, section 6.3: these names never lead to another machine. */
const LOCALHOST = /^(?:.+\.)?localhost$/
const LOOPBACK = ['127.0.0.1', '::1']

/**
 * Creates a resolver. A name that gets no answer costs only the connections that want it: `dns.lookup` would hold one of the few threads
 * of the process, and every other name and file of the process would wait behind it.
 */
export function createNameResolver(options: NameResolverOptions = {}): NameResolver {
  const { timeoutMs = TIMEOUT_MS, hostsFile = '/etc/hosts', asksSystem = false } = options
  const hosts = createFileReader(hostsFile, parseHosts)
  const searchDomains = createFileReader('/etc/resolv.conf', parseSearchDomains)
  const limitQueries = limitConcurrency(MAX_QUERIES)
  const limitBurst = limitConcurrency(BURST)

  async function queryAll(host: string): Promise<NameAnswer> {
    const deadline = performance.now() + timeoutMs
    for (const name of fullNames(host, await searchDomains())) {
      const remainingMs = Math.max(1, deadline - performance.now())
      const answer = await found(queryAddresses({ name, servers: options.servers, timeoutMs: remainingMs }))
      if (answer !== undefined) return answer
    }
    if (asksSystem) return askSystem(host)
    throw new NameError(host, 'ENOTFOUND')
  }

  /** A query that gets no answer soon makes room for the next burst. */
  async function openQuery(host: string): Promise<{ readonly answer: Promise<NameAnswer> }> {
    const answer = queryAll(host)
    const ended = answer.catch(() => {})
    await Promise.race([ended, setTimeout(BURST_MS, undefined, { ref: false })])
    return { answer }
  }

  const ask = createNameMemory({
    now: () => performance.now(),
    ask: (host) => limitQueries(async () => (await limitBurst(() => openQuery(host))).answer),
  })

  return {
    resolve: async (host) => {
      const name = host.toLowerCase()
      const local = (await hosts()).get(name) ?? (LOCALHOST.test(name) ? LOOPBACK : undefined)
      if (local !== undefined) return local.map((address) => ({ address, family: isIP(address) }))
      return (await ask(name)).addresses
    },
  }
}

/** Returns undefined when the name servers deny the name, so that the next name is asked. */
async function found(answer: Promise<NameAnswer>): Promise<NameAnswer | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof NameError && error.code === 'ENOTFOUND') return undefined
    throw error
  }
}

/** Other sources tell no time to live, so the shortest counts. */
async function askSystem(host: string): Promise<NameAnswer> {
  try {
    return { addresses: await lookup(host, { all: true }), ttlMs: 0 }
  } catch {
    throw new NameError(host, 'ENOTFOUND')
  }
}
