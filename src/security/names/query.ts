import type { LookupAddress, RecordWithTtl } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { NameError } from './name-error.ts'

/** The addresses of a name, and the time for which its zone lets others remember them. */
export interface NameAnswer {
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

/** A name server is asked again after this time, in ms; c-ares doubles it with each try. */
const TRY_MS = 1_000

const TRIES = 3

/** No name server knows an address. `ECONNREFUSED`: the system has no name server, so only its other sources know names. */
const NOT_FOUND: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ECONNREFUSED'])

/**
 * Asks the name servers for the addresses of a name. The sockets of c-ares wait for the answer, and no thread does. Each query has a
 * resolver of its own, so that its end cancels nothing else, and a changed configuration of the system counts at once.
 * @throws NameError
 */
export async function queryAddresses({ name, servers, timeoutMs }: Query): Promise<NameAnswer> {
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
