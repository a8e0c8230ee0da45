import ipaddr from 'ipaddr.js'
import { embeddedIpv4 } from './embedded-ipv4.ts'

/** `public`: the internet · `private`: this machine or a private network · `forbidden`: never a legitimate target. */
export type Reach = 'public' | 'private' | 'forbidden'

/** Addresses at which clouds serve credentials. Most of them are in ranges that are private or public for everybody else. */
const METADATA = [
  '100.100.100.200/32', // Alibaba Cloud
  '168.63.129.16/32', // Azure
  '192.0.0.192/32', // Oracle Cloud
  'fd00:ec2::/32', // AWS
  'fd20:ce::/32', // Google Cloud
].map((range) => ipaddr.parseCIDR(range))

/** The ranges of ipaddr.js that no connection has a reason to use. Link-local addresses include the metadata services of most clouds. */
const FORBIDDEN: ReadonlySet<string> = new Set(['unspecified', 'linkLocal', 'multicast', 'broadcast'])

/** The ranges of ipaddr.js that routers forward everywhere. A range that it learns later is private until it is listed here. */
const PUBLIC: ReadonlySet<string> = new Set(['unicast', 'amt', 'as112', 'as112v6'])

/** All IPv6 addresses that IANA has given to the internet so far (RFC 4291, section 2.4). */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/** Classifies an IP address. An IPv6 address that contains an IPv4 address reaches no further than that one. */
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
