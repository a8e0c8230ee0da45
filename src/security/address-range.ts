import { BlockList, isIPv6 } from 'node:net'

/** `public`: the internet · `private`: this machine or a private network · `forbidden`: never a legitimate target. */
export type Reach = 'public' | 'private' | 'forbidden'

/** [network, bits], after the special-purpose registries of IANA (RFC 6890 and its updates). */
const FORBIDDEN_V4 = [
  ['0.0.0.0', 8], // this network; reaches this machine on Linux
  ['169.254.0.0', 16], // link-local: metadata services of clouds
  ['100.100.100.200', 32], // metadata service of Alibaba Cloud
  ['192.0.0.192', 32], // metadata service of Oracle Cloud
  ['224.0.0.0', 4], // multicast
  ['255.255.255.255', 32], // broadcast
] as const

const PRIVATE_V4 = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // shared by carriers
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15], // benchmarks
  ['240.0.0.0', 4], // reserved
] as const

const FORBIDDEN_V6 = [
  ['::', 128],
  ['fe80::', 10], // link-local
  ['fd00:ec2::', 32], // metadata service of AWS
  ['fd20:ce::', 32], // metadata service of Google Cloud
  ['ff00::', 8], // multicast
  ['64:ff9b::a9fe:0', 112], // 169.254.0.0/16 behind a translator
  ['64:ff9b:1:a9fe::', 64],
  ['2002:a9fe::', 32],
] as const

const PRIVATE_V6 = [
  ['::1', 128],
  ['fc00::', 7], // unique local
  ['fec0::', 10], // site-local, deprecated
] as const

/** Prefixes that contain an IPv4 address, to which a gateway may forward. */
const TRANSLATED_V6 = [
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['2001::', 32],
] as const

const forbidden = listOf(FORBIDDEN_V4, FORBIDDEN_V6)
const notPublic = listOf(PRIVATE_V4, [...PRIVATE_V6, ...TRANSLATED_V6])

/** Classifies an IP address. An IPv4 address in IPv6 notation counts as IPv4. */
export function reachOf(address: string): Reach {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  // A BlockList treats `::ffff:a.b.c.d` as `a.b.c.d`.
  if (forbidden.check(address, family)) return 'forbidden'
  return notPublic.check(address, family) ? 'private' : 'public'
}

type Ranges = readonly (readonly [string, number])[]

function listOf(v4: Ranges, v6: Ranges): BlockList {
  const list = new BlockList()
  for (const [network, bits] of v4) list.addSubnet(network, bits, 'ipv4')
  for (const [network, bits] of v6) list.addSubnet(network, bits, 'ipv6')
  return list
}
