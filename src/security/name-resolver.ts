import type { LookupAddress, RecordWithTtl } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'
import { readFile, stat } from 'node:fs/promises'
import { isIP, type LookupFunction } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { BoundedMap } from '../lib/bounded-map.ts'
import { limitConcurrency } from '../lib/concurrency/limit-concurrency.ts'

/** Chooses the addresses that a connection may use. Throws when there is none. */
type AddressFilter = (host: string, addresses: readonly LookupAddress[]) => readonly LookupAddress[]

/** Creates a `lookup` for sockets: the addresses that it returns are the ones to which they connect. */
export function createLookup(
  resolver: NameResolver,
  filter: AddressFilter = (_host, all) => all,
): LookupFunction {
  return (host, { family, all }, callback) => {
    const answer = async () => filter(host, onlyFamily(host, family, await resolver.resolve(host)))
    answer().then(
      (addresses) => {
        const [first] = addresses
        if (all === true) callback(null, [...addresses])
        else callback(null, first?.address ?? '', first?.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}

/** @throws NameError if the host has no address of this family */
function onlyFamily(
  host: string,
  family: number | string | undefined,
  addresses: readonly LookupAddress[],
): readonly LookupAddress[] {
  const wanted = Number(String(family ?? 0).replace('IPv', ''))
  const fitting = wanted === 0 ? addresses : addresses.filter((one) => one.family === wanted)
  if (fitting.length === 0) throw new NameError(host, 'ENOTFOUND')
  return fitting
}

/** Finds the addresses of host names. */
export interface NameResolver {
  /** @throws NameError */
  resolve(host: string): Promise<readonly LookupAddress[]>
}

export interface NameResolverOptions {
  /** `address` or `address:port` of each name server. Default: those of the system. */
  readonly servers?: readonly string[] | undefined
  /**
   * The longest that a name may take, in ms. Default 5000: a delivery whose name is slow still has time for
   * its request.
   */
  readonly timeoutMs?: number
  /** Default `/etc/hosts`. */
  readonly hostsFile?: string
  /**
   * Calls `getaddrinfo` if the name servers know no address. Only it knows the other sources of the system
   * (nsswitch.conf). It can occupy a thread of the process indefinitely, so it is only for names that the
   * operator chose.
   */
  readonly asksSystem?: true
}

const TIMEOUT_MS = 5_000

/**
 * This many names may wait for their answers at the same time. A query is a socket without a thread, so the
 * number can be high.
 */
const MAX_QUERIES = 512

/**
 * This many names are looked up within `BURST_MS`. Each sends two datagrams, and a name server that gets a
 * few hundred together drops some of them.
 */
const BURST = 64
const BURST_MS = 100

/** RFC 6761, section 6.3: these names never lead to another machine. */
const LOCALHOST = /^(?:.+\.)?localhost$/
const LOOPBACK = ['127.0.0.1', '::1']

/**
 * Creates a resolver. A name without an answer only delays the connections that need it: `dns.lookup` would
 * block one of the few threads of the process, and every other name and file would wait behind it.
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

  /** A query without a prompt answer makes way for the next burst. */
  async function openQuery(host: string): Promise<{ readonly answer: Promise<NameAnswer> }> {
    const answer = queryAll(host)
    const ended = answer.catch(() => {})
    await Promise.race([ended, pause(BURST_MS, undefined, { ref: false })])
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

/** Returns undefined if the name servers deny the name, so that the next one is tried. */
async function found(answer: Promise<NameAnswer>): Promise<NameAnswer | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof NameError && error.code === 'ENOTFOUND') return undefined
    throw error
  }
}

/** Other sources have no time to live, so the shortest counts. */
async function askSystem(host: string): Promise<NameAnswer> {
  try {
    return { addresses: await lookup(host, { all: true }), ttlMs: 0 }
  } catch {
    throw new NameError(host, 'ENOTFOUND')
  }
}

/** The addresses of a name, and their time to live. */
interface NameAnswer {
  readonly addresses: readonly LookupAddress[]
  readonly ttlMs: number
}

interface Query {
  /** The full name. */
  readonly name: string
  /** `address` or `address:port` of each name server; undefined for those of the system. */
  readonly servers: readonly string[] | undefined
  /** The query ends after this time, in ms. */
  readonly timeoutMs: number
}

/** A name server is queried again after this time, in ms; c-ares doubles it with each attempt. */
const TRY_MS = 1_000

const TRIES = 3

/**
 * No name server knows an address. `ECONNREFUSED`: the system has no name server, so only its other sources
 * know names.
 */
const NOT_FOUND: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ECONNREFUSED'])

/**
 * Queries the name servers for the addresses of a name. The sockets of c-ares wait for the answer, without a
 * thread. Each query has its own resolver, so that its end cancels nothing else, and a changed system
 * configuration takes effect immediately.
 * @throws NameError
 */
async function queryAddresses({ name, servers, timeoutMs }: Query): Promise<NameAnswer> {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
  if (servers !== undefined) resolver.setServers([...servers])
  const timer = setTimeout(() => resolver.cancel(), timeoutMs)
  try {
    const families = await Promise.allSettled([
      resolver.resolve4(name, { ttl: true }),
      resolver.resolve6(name, { ttl: true }),
    ])
    return readFamilies(name, families)
  } finally {
    clearTimeout(timer)
  }
}

type Family = PromiseSettledResult<RecordWithTtl[]>

/** One family is enough: some name servers never answer questions for IPv6. */
function readFamilies(name: string, [v4, v6]: readonly [Family, Family]): NameAnswer {
  const records = [...recordsOf(v4, 4), ...recordsOf(v6, 6)]
  if (records.length > 0) {
    const ttlMs = 1_000 * Math.min(...records.map(({ ttl }) => ttl))
    return { addresses: records.map(({ address, family }) => ({ address, family })), ttlMs }
  }
  const isDenied = [v4, v6].every((one) => one.status === 'fulfilled' || NOT_FOUND.has(one.reason?.code))
  throw new NameError(name, isDenied ? 'ENOTFOUND' : 'EAI_AGAIN')
}

function recordsOf(result: Family, family: 4 | 6) {
  const records = result.status === 'fulfilled' ? result.value : []
  return records.map(({ address, ttl }) => ({ address, ttl, family }))
}

/**
 * Answers are remembered for at least this time, in ms, although some zones allow none: several requests
 * follow one another.
 */
const MIN_ANSWER_MS = 1_000

/** Answers are remembered for at most this time, in ms: a receiver that moves is found again within it. */
const MAX_ANSWER_MS = 60_000

/**
 * Failures are remembered for this time, in ms: repeated deliveries to a lapsed name then cost one query, and
 * a repaired name works soon.
 */
const FAILURE_MS = 5_000

/** The number of names that are remembered. Callers choose names, so it bounds the memory that they take. */
const MAX_NAMES = 1_000

interface Known {
  readonly answer: Promise<NameAnswer>
  /** Infinite while the query is under way. */
  until: number
}

interface NameMemoryOptions {
  /** Milliseconds of any monotonic clock. */
  readonly now: () => number
  readonly ask: (host: string) => Promise<NameAnswer>
}

/**
 * Creates a function that looks up a host once: concurrent calls share the query, and later ones get the
 * cached result.
 */
function createNameMemory({ now, ask }: NameMemoryOptions): (host: string) => Promise<NameAnswer> {
  const names = new BoundedMap<string, Known>(MAX_NAMES)

  function start(host: string): Known {
    const known: Known = { answer: ask(host), until: Number.POSITIVE_INFINITY }
    const keep = (ms: number) => {
      known.until = now() + ms
    }
    known.answer.then(
      ({ ttlMs }) => keep(Math.min(MAX_ANSWER_MS, Math.max(MIN_ANSWER_MS, ttlMs))),
      () => keep(FAILURE_MS),
    )
    names.set(host, known)
    return known
  }

  return (host) => {
    const known = names.get(host)
    return (known !== undefined && known.until > now() ? known : start(host)).answer
  }
}

/**
 * Creates a reader of a small file of the system. It parses the file again only when its time of change or
 * its length differs. A file that cannot be read counts as empty: many containers do not have it.
 */
function createFileReader<T>(path: string, parse: (text: string) => T): () => Promise<T> {
  let known: { readonly version: string; readonly content: T } | undefined
  return async () => {
    const version = await versionOf(path)
    if (known?.version === version) return known.content
    const content = parse(await readFile(path, 'utf8').catch(() => ''))
    known = { version, content }
    return content
  }
}

async function versionOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return 'unreadable'
  }
}

/** Reads the text of a hosts file (hosts(5)): the addresses of each name, in lower case. */
function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = withoutComment(line).split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names.map((one) => one.toLowerCase()))
      hosts.set(name, [...(hosts.get(name) ?? []), address])
  }
  return hosts
}

function withoutComment(line: string): string {
  return line.replace(/#.*/, '').trim()
}

/**
 * Reads the search list of a resolver configuration (resolv.conf(5)). The last `search` or `domain` line
 * counts.
 */
export function parseSearchDomains(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/))
  const last = lines.findLast(([keyword]) => keyword === 'search' || keyword === 'domain')
  return (last ?? [])
    .slice(1)
    .map((domain) => domain.replace(/\.$/, ''))
    .filter((domain) => domain !== '')
}

/**
 * Returns the full names that a host can mean, in the order to try. Clusters and company networks use short
 * names for their services. A name with a dot is tried unchanged first, because most are internet names.
 */
export function fullNames(host: string, searchDomains: readonly string[]): readonly string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)]
  const searched = searchDomains.map((domain) => `${host}.${domain}`)
  return host.includes('.') ? [host, ...searched] : [...searched, host]
}

/**
 * A host name has no address. The codes are those of `dns.lookup`: `ENOTFOUND` when the name servers say so,
 * `EAI_AGAIN` when they do not answer or fail.
 */
class NameError extends Error {
  override readonly name = 'NameError'
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN'
  readonly hostname: string

  constructor(hostname: string, code: NameError['code']) {
    const problem = code === 'ENOTFOUND' ? 'the name has no address' : 'the name servers do not answer'
    super(`${code} ${hostname}: ${problem}`)
    this.code = code
    this.hostname = hostname
  }
}
