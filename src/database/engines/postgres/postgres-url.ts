/** One server of a URL, with a URL for only that server. */
export interface PostgresServer {
  /** Host and port for people; without user and password. */
  readonly name: string
  readonly url: string
}

/** The servers of a url, in its order. */
export interface PostgresServers {
  readonly servers: readonly PostgresServer[]
  /** The property that a server must have (`target_session_attrs`). */
  readonly target: 'any' | 'read-write' | 'primary'
  /** Each new connection starts at a random server (`load_balance_hosts=random`). */
  readonly isRandom: boolean
  /**
   * The longest time in ms for one server to take a connection (`connect_timeout`); undefined for the
   * default.
   */
  readonly connectTimeoutMs: number | undefined
}

/**
 * A url that cannot be used. The message is a predicate that continues the name of the variable, and never
 * quotes the url (I11).
 */
export class PostgresUrlError extends Error {
  override readonly name = 'PostgresUrlError'
}

/**
 * User and password, the hosts, and the rest. As in any url, the last @ before the path ends user and
 * password.
 */
const PARTS =
  /^(?<scheme>postgres(?:ql)?:\/\/)(?<user>[^/?#]*@)?(?<hosts>[^/?#]*)(?<path>[^?#]*)(?:\?(?<query>[^#]*))?/

/** A host with a port, if it has one; an IPv6 address is in brackets. */
const HOST = /^(?<host>\[[^\]]*\]|[^:]*)(?::(?<port>\d*))?$/

/** The parameters that are read here. node-postgres gets the URL of one server, and handles all others. */
const READ_HERE = ['target_session_attrs', 'load_balance_hosts', 'connect_timeout']

const TARGETS = ['any', 'read-write', 'primary'] as const
const READING_TARGETS = ['read-only', 'standby', 'prefer-standby']

/**
 * Reads a url with one or several hosts, as libpq does (PostgreSQL manual, 34.1 "Specifying Multiple Hosts"):
 * `a:1,b:2` before the path, or the parameters `host=a,b` and `port=1,2`. node-postgres 8 knows only one
 * host.
 * @throws PostgresUrlError
 */
export function readPostgresUrl(url: string): PostgresServers {
  const { scheme, user = '', hosts = '', path = '', query = '' } = PARTS.exec(url)?.groups ?? {}
  if (scheme === undefined)
    throw new PostgresUrlError('must be a url that starts with postgres:// or postgresql://')
  const read = readQuery(query)
  const names = read.values.get('host')
  const ports = read.values.get('port')
  const at = (host: string, rest: readonly string[]) =>
    `${scheme}${user}${host}${path}${rest.length === 0 ? '' : `?${rest.join('&')}`}`
  const servers =
    names === undefined && ports === undefined
      ? hosts.split(',').map((host) => ({ name: nameOf(host), url: at(host, read.others) }))
      : pairsOf(names ?? hosts, ports).map(({ host, port }) => ({
          name: [host, port].filter((part) => part !== '').join(':'),
          // A folder of sockets can only be a parameter. Anything before the path is then ignored, as with
          // one host.
          url: at(names === undefined ? host : (hosts.split(',')[0] ?? ''), [
            ...read.others,
            ...(names === undefined ? [] : [`host=${encodeURIComponent(host)}`]),
            ...(port === '' ? [] : [`port=${port}`]),
          ]),
        }))
  if (!servers.every((server) => isReadable(server.url))) throw new PostgresUrlError(UNREADABLE)
  return {
    servers,
    target: readTarget(read.values.get('target_session_attrs'), servers.length),
    isRandom: readIsRandom(read.values.get('load_balance_hosts')),
    connectTimeoutMs: readTimeout(read.values.get('connect_timeout')),
  }
}

const UNREADABLE =
  'cannot be read: expected postgres://user:password@host:port/database, with commas between several host:port pairs, and characters such as / ? # in a password percent-encoded'

/**
 * A user without a host is no url for Node.js, and is one for node-postgres (pg-connection-string, index.js).
 */
function isReadable(url: string): boolean {
  return URL.canParse(url) || URL.canParse(url.replace('@/', '@host/'))
}

function nameOf(text: string): string {
  const { host, port } = HOST.exec(text)?.groups ?? {}
  if (host === undefined || Number(port ?? 0) > 65_535) throw new PostgresUrlError(UNREADABLE)
  return text
}

/** Separates the parameters that are read here from those that stay as they are written. */
function readQuery(query: string): { values: ReadonlyMap<string, string>; others: readonly string[] } {
  const values = new Map<string, string>()
  const others: string[] = []
  for (const text of query.split('&').filter((part) => part !== '')) {
    const [[name = '', value = ''] = []] = new URLSearchParams(text)
    // Empty values count as absent, as in libpq.
    if (['host', 'port', ...READ_HERE].includes(name)) {
      if (value !== '') values.set(name, value)
    } else others.push(text)
  }
  return { values, others }
}

/** There is one port for each host, or one for all. */
function pairsOf(hostText: string, portText = ''): { host: string; port: string }[] {
  const hosts = hostText.split(',')
  const ports = portText.split(',')
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new PostgresUrlError(
      `has ${hosts.length} hosts and ${ports.length} ports: set a port for each host, or one port for all`,
    )
  if (!ports.every((port) => /^\d*$/.test(port) && Number(port) <= 65_535))
    throw new PostgresUrlError('has a port that is not a whole number up to 65535')
  return hosts.map((host, index) => ({ host, port: ports[index] ?? ports[0] ?? '' }))
}

/**
 * A service that cannot write can do nothing, so of several servers the one that writes is wanted where the
 * url does not say.
 */
function readTarget(text: string | undefined, count: number): PostgresServers['target'] {
  if (text === undefined) return count > 1 ? 'read-write' : 'any'
  const target = TARGETS.find((one) => one === text)
  if (target !== undefined) return target
  throw new PostgresUrlError(
    READING_TARGETS.includes(text)
      ? `has target_session_attrs=${text}, but the service writes: use read-write or primary`
      : `has an unknown target_session_attrs: expected one of ${TARGETS.join(', ')}`,
  )
}

function readIsRandom(text = 'disable'): boolean {
  if (text === 'disable' || text === 'random') return text === 'random'
  throw new PostgresUrlError('has an unknown load_balance_hosts: expected disable or random')
}

/** libpq: in seconds, and 0 or less for no limit, which would let a start or a request hang here. */
function readTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^-?\d{1,6}$/.test(text))
    throw new PostgresUrlError('has a connect_timeout that is not a whole number of seconds')
  return Number(text) > 0 ? Number(text) * 1000 : undefined
}
