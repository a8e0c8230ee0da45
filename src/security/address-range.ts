import ipaddr from 'ipaddr.js'

/**
 * `public`: the internet · `private`: this machine or a private network · `forbidden`: never a legitimate
 * target.
 */
export type Reach = 'public' | 'private' | 'forbidden'

/**
 * Addresses at which clouds serve credentials. Most of them are in ranges that are otherwise private or
 * public.
 */
const METADATA = [
  '100.100.100.200/32', // Alibaba Cloud
  '168.63.129.16/32', // Azure
  '192.0.0.192/32', // Oracle Cloud
  'fd00:ec2::/32', // AWS
  'fd20:ce::/32', // Google Cloud
].map((range) => ipaddr.parseCIDR(range))

/**
 * The ranges of ipaddr.js that no connection has a reason to use. Link-local addresses include the metadata
 * services of most clouds.
 */
const FORBIDDEN: ReadonlySet<string> = new Set(['unspecified', 'linkLocal', 'multicast', 'broadcast'])

/**
 * The ranges of ipaddr.js that routers forward everywhere. A range that it learns later is private until it
 * is listed here.
 */
const PUBLIC: ReadonlySet<string> = new Set(['unicast', 'amt', 'as112', 'as112v6'])

/** All IPv6 addresses that IANA has given to the internet so far (RFC 4291, section 2.4). */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/**
 * Classifies an IP address. An IPv6 address that contains an IPv4 address reaches no further than that one.
 */
export function reachOf(address: string): Reach {
  if (!ipaddr.isValid(address)) return 'forbidden'
  const parsed = ipaddr.parse(address)
  if (METADATA.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits)))
    return 'forbidden'
  if (parsed.kind() === 'ipv4') return rangeReach(parsed.range())
  const embedded = embeddedIpv4(parsed.toByteArray())
  if (embedded === undefined) return ipv6Reach(parsed)
  const reaches = embedded.addresses.map(reachOf)
  if (reaches.includes('forbidden')) return 'forbidden'
  return embedded.isRouted && !reaches.includes('private') ? 'public' : 'private'
}

function ipv6Reach(address: ReturnType<typeof ipaddr.parse>): Reach {
  const reach = rangeReach(address.range())
  return reach === 'public' && !address.match(GLOBAL_UNICAST) ? 'private' : reach
}

function rangeReach(range: string): Reach {
  if (FORBIDDEN.has(range)) return 'forbidden'
  return PUBLIC.has(range) ? 'public' : 'private'
}

/** IPv4 addresses in an IPv6 address, to which a host or a gateway may forward. */
interface EmbeddedIpv4 {
  readonly addresses: readonly string[]
  /** The internet forwards to the IPv4 address. Otherwise only some hosts and private gateways do. */
  readonly isRouted: boolean
}

interface Format {
  /** The first bytes of the addresses. */
  readonly prefix: readonly number[]
  /** The places of the IPv4 address; several where the length of the gateway's prefix is not known. */
  readonly layouts: readonly (readonly [number, number, number, number])[]
  readonly isRouted: boolean
  /** The bits of the address are inverted. */
  readonly isInverted?: true
}

const LAST = [12, 13, 14, 15] as const
const ZEROS_10 = Array<number>(10).fill(0)

const FORMATS: readonly Format[] = [
  // RFC 4291, section 2.5.5.2: sockets connect to the IPv4 address.
  { prefix: [...ZEROS_10, 0xff, 0xff], layouts: [LAST], isRouted: true },
  // RFC 2765: IPv4-translated.
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], layouts: [LAST], isRouted: false },
  // RFC 4291, section 2.5.5.1: IPv4-compatible, deprecated.
  { prefix: [...ZEROS_10, 0, 0], layouts: [LAST], isRouted: false },
  // RFC 6052: IPv6-only networks reach the IPv4 internet through this prefix.
  { prefix: [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], layouts: [LAST], isRouted: true },
  // RFC 8215: translation inside a network, with prefixes of 48, 56, 64 and 96 bits (RFC 6052, section 2.2).
  {
    prefix: [0, 0x64, 0xff, 0x9b, 0, 1],
    layouts: [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], LAST],
    isRouted: false,
  },
  // RFC 3056: 6to4.
  { prefix: [0x20, 0x02], layouts: [[2, 3, 4, 5]], isRouted: false },
  // RFC 4380: Teredo, with the server, and the client in inverted bits.
  { prefix: [0x20, 0x01, 0, 0], layouts: [[4, 5, 6, 7]], isRouted: false },
  { prefix: [0x20, 0x01, 0, 0], layouts: [LAST], isRouted: false, isInverted: true },
]

/**
 * Finds the IPv4 addresses in the 16 bytes of an IPv6 address; undefined if it has no format that contains
 * one.
 */
function embeddedIpv4(bytes: readonly number[]): EmbeddedIpv4 | undefined {
  // `::` and `::1` are addresses of IPv6 itself.
  if (bytes.slice(0, 15).every((byte) => byte === 0) && (bytes[15] ?? 0) <= 1) return undefined
  const formats = FORMATS.filter(({ prefix }) => prefix.every((byte, index) => bytes[index] === byte))
  if (formats.length === 0) return undefined
  const addresses = formats.flatMap((format) => readPlaces(bytes, format))
  return { addresses, isRouted: formats.every(({ isRouted }) => isRouted) }
}

/**
 * A format can have several places. An address that begins with 0 is then a part of another one, because no
 * host has such an address.
 */
function readPlaces(bytes: readonly number[], { layouts, isInverted }: Format): string[] {
  const read = layouts.map((offsets) => offsets.map((at) => (bytes[at] ?? 0) ^ (isInverted ? 0xff : 0)))
  const likely = layouts.length === 1 ? read : read.filter(([first]) => first !== 0)
  return likely.map((octets) => octets.join('.'))
}
