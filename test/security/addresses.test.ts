import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { untrustedRpcUrlProblem } from '../../src/networks/read-urls.ts'
import { type Reach, reachOf } from '../../src/security/address-range.ts'
import { untrustedUrlProblem } from '../../src/security/guarded-http-client.ts'

const ADDRESSES = {
  public: [
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '172.32.0.1',
    '192.169.0.1',
    '2606:4700::1111',
    '::ffff:1.1.1.1',
  ],
  private: [
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '240.0.0.1',
    '::1',
    'fd12:3456::1',
    'fc00::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.1.2.3',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:0:808:808::f7f7:f7f7',
  ],
  forbidden: [
    '0.0.0.0',
    '0.1.2.3',
    '169.254.169.254',
    '169.254.0.1',
    '100.100.100.200',
    '192.0.0.192',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    'fe80::1',
    'febf::1',
    'ff02::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::',
    '::ffff:a9fe:a9fe',
  ],
} as const

describe('reachOf', () => {
  for (const [reach, addresses] of Object.entries(ADDRESSES)) {
    test.each(addresses)(`%s is ${reach}`, (address) => {
      expect(reachOf(address)).toBe(reach)
    })
  }
})

/**
 * The registry of IPv4 special-purpose addresses (IANA, iana-ipv4-special-registry), with `Globally Reachable` and the reach that this
 * service gives the range. It may be stricter than the registry, and is so for protocol assignments that serve no HTTP.
 */
const IPV4 = [
  ['0.0.0.0/8', false, 'forbidden'], // "This network"
  ['0.0.0.0/32', false, 'forbidden'], // "This host on this network"
  ['10.0.0.0/8', false, 'private'], // Private-Use
  ['100.64.0.0/10', false, 'private'], // Shared Address Space
  ['127.0.0.0/8', false, 'private'], // Loopback
  ['169.254.0.0/16', false, 'forbidden'], // Link Local
  ['172.16.0.0/12', false, 'private'], // Private-Use
  ['192.0.0.0/24', false, 'private'], // IETF Protocol Assignments
  ['192.0.0.0/29', false, 'private'], // IPv4 Service Continuity Prefix
  ['192.0.0.8/32', false, 'private'], // IPv4 dummy address
  ['192.0.0.9/32', true, 'private'], // Port Control Protocol Anycast
  ['192.0.0.10/32', true, 'private'], // Traversal Using Relays around NAT Anycast
  ['192.0.0.170/32', false, 'private'], // NAT64/DNS64 Discovery
  ['192.0.0.171/32', false, 'private'], // NAT64/DNS64 Discovery
  ['192.0.2.0/24', false, 'private'], // Documentation (TEST-NET-1)
  ['192.31.196.0/24', true, 'public'], // AS112-v4
  ['192.52.193.0/24', true, 'public'], // AMT
  ['192.88.99.0/24', false, 'private'], // Deprecated (6to4 Relay Anycast)
  ['192.88.99.2/32', false, 'private'], // 6a44-relay anycast address
  ['192.168.0.0/16', false, 'private'], // Private-Use
  ['192.175.48.0/24', true, 'public'], // Direct Delegation AS112 Service
  ['198.18.0.0/15', false, 'private'], // Benchmarking
  ['198.51.100.0/24', false, 'private'], // Documentation (TEST-NET-2)
  ['203.0.113.0/24', false, 'private'], // Documentation (TEST-NET-3)
  ['240.0.0.0/4', false, 'private'], // Reserved
  ['255.255.255.255/32', false, 'forbidden'], // Limited Broadcast
  ['224.0.0.0/4', false, 'forbidden'], // Multicast (iana-multicast-addresses)
] as const

/** The registry of IPv6 special-purpose addresses (IANA, iana-ipv6-special-registry), and the other formats that are not for the internet. */
const IPV6 = [
  ['::1/128', false, 'private'], // Loopback Address
  ['::/128', false, 'forbidden'], // Unspecified Address
  ['::ffff:0:0/96', false, 'forbidden'], // IPv4-mapped Address: the first and the last embed 0.0.0.0 and 255.255.255.255
  ['64:ff9b::/96', true, 'forbidden'], // IPv4-IPv6 Translation, likewise
  ['64:ff9b:1::/48', false, 'private'], // IPv4-IPv6 Translation
  ['100::/64', false, 'private'], // Discard-Only Address Block
  ['100:0:0:1::/64', false, 'private'], // Dummy IPv6 Prefix
  ['2001::/23', false, 'private'], // IETF Protocol Assignments
  ['2001::/32', false, 'private'], // TEREDO
  ['2001:1::1/128', true, 'private'], // Port Control Protocol Anycast
  ['2001:1::2/128', true, 'private'], // Traversal Using Relays around NAT Anycast
  ['2001:1::3/128', true, 'private'], // DNS-SD Service Registration Protocol Anycast
  ['2001:2::/48', false, 'private'], // Benchmarking
  ['2001:3::/32', true, 'public'], // AMT
  ['2001:4:112::/48', true, 'public'], // AS112-v6
  ['2001:10::/28', false, 'private'], // Deprecated (previously ORCHID)
  ['2001:20::/28', true, 'private'], // ORCHIDv2
  ['2001:30::/28', true, 'private'], // Drone Remote ID Protocol Entity Tags
  ['2001:db8::/32', false, 'private'], // Documentation
  ['2002::/16', false, 'private'], // 6to4
  ['2620:4f:8000::/48', true, 'public'], // Direct Delegation AS112 Service
  ['3fff::/20', false, 'private'], // Documentation
  ['5f00::/16', false, 'private'], // Segment Routing (SRv6) SIDs
  ['fc00::/7', false, 'private'], // Unique-Local
  ['fe80::/10', false, 'forbidden'], // Link-Local Unicast
  ['fec0::/10', false, 'private'], // Site-Local, deprecated (RFC 3879)
  ['ff00::/8', false, 'forbidden'], // Multicast
  ['4000::/3', false, 'private'], // not given to anyone (iana-ipv6-address-space)
] as const

/** Returns the first and the last address of a range. */
function endsOf(range: string): [string, string] {
  const [network, bits] = ipaddr.parseCIDR(range)
  const bytes = network.toByteArray()
  const last = bytes.map((byte, index) => byte | (0xff >> Math.min(8, Math.max(0, bits - 8 * index))))
  return [network.toString(), ipaddr.fromByteArray(last).toString()]
}

/** Ranges whose ends are in another range of the table, or contain a forbidden IPv4 address. */
const OTHER_ENDS: Readonly<Record<string, readonly [Reach, Reach]>> = {
  '240.0.0.0/4': ['private', 'forbidden'],
  '2001::/23': ['forbidden', 'private'],
  '2001::/32': ['forbidden', 'forbidden'],
  '2002::/16': ['forbidden', 'forbidden'],
  '64:ff9b:1::/48': ['private', 'forbidden'],
}

test.each([...IPV4, ...IPV6])('%s, globally reachable %s, is %s', (range, globally, reach) => {
  const reaches = endsOf(range).map(reachOf)
  expect(reaches).toEqual(OTHER_ENDS[range] ?? [reach, reach])
  if (!globally) expect(reaches).not.toContain('public')
})

describe('an IPv4 address inside an IPv6 address', () => {
  const hex = (address: string) => Buffer.from(address.split('.').map(Number)).toString('hex')
  const groups = (address: string) => `${hex(address).slice(0, 4)}:${hex(address).slice(4)}`
  const inverted = (address: string) =>
    groups(
      address
        .split('.')
        .map((octet) => 255 - Number(octet))
        .join('.'),
    )
  const local48 = (address: string) =>
    `64:ff9b:1:${hex(address).slice(0, 4)}:00${hex(address).slice(4, 6)}:${hex(address).slice(6)}00::`

  /** Format, and whether the internet forwards to the address in it. */
  const FORMATS = [
    ['IPv4-mapped', (address: string) => `::ffff:${groups(address)}`, true],
    ['IPv4-translated', (address: string) => `::ffff:0:${groups(address)}`, false],
    ['IPv4-compatible', (address: string) => `::${groups(address)}`, false],
    ['translated by the well-known prefix', (address: string) => `64:ff9b::${groups(address)}`, true],
    ['translated by a local prefix of 96 bits', (address: string) => `64:ff9b:1::${groups(address)}`, false],
    ['translated by a local prefix of 48 bits', local48, false],
    ['6to4', (address: string) => `2002:${groups(address)}::1`, false],
    ['the server of Teredo', (address: string) => `2001:0:${groups(address)}::${inverted('8.8.8.8')}`, false],
    ['the client of Teredo', (address: string) => `2001:0:808:808::${inverted(address)}`, false],
  ] as const

  describe.each(FORMATS)('%s', (_name, write, isRouted) => {
    test.each([
      ['127.0.0.1', 'private'],
      ['10.1.2.3', 'private'],
      ['192.168.1.1', 'private'],
      ['169.254.169.254', 'forbidden'],
      ['168.63.129.16', 'forbidden'],
      ['100.100.100.200', 'forbidden'],
      ['8.8.8.8', isRouted ? 'public' : 'private'],
    ] as const)('%s is %s', (address, reach) => {
      expect(reachOf(write(address))).toBe(reach)
    })
  })
})

test.each(['168.63.129.16', 'fd00:ec2::254', 'fe80::1%eth0', 'no address', ''])(
  '%s is forbidden',
  (address) => {
    expect(reachOf(address)).toBe('forbidden')
  },
)

const CAREFUL = { allowPrivate: false }

describe('givenUrlProblem', () => {
  test.each(['https://hooks.example.com/a?b=c', 'http://1.1.1.1:8080/', 'http://name.that.leads.nowhere/'])(
    '%s is taken',
    (url) => expect(untrustedUrlProblem(url, CAREFUL)).toBeUndefined(),
  )

  test.each([
    '',
    'example.com',
    'ftp://example.com/',
    'ws://example.com/',
    'file:///etc/passwd',
    'http://',
    ' http://a.b/',
    'http://a.b/\u0000',
  ])('%j is no http url', (url) =>
    expect(untrustedUrlProblem(url, CAREFUL)).toBe('expected an http:// or https:// url'),
  )

  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f.1/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://2130706433/',
    'http://127.0.0.1./',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:ffff:7f00:1]/',
    'http://①②⑦.0.0.1/',
    'https://user:word@10.0.0.7/rpc',
  ])('%s is an address of a private network', (url) => {
    expect(untrustedUrlProblem(url, CAREFUL)).toMatch(
      /^expected a URL that may be reached; .* private network, which RELAYER_ALLOW_PRIVATE_URLS would allow$/,
    )
    expect(untrustedUrlProblem(url, { allowPrivate: true })).toBeUndefined()
  })

  test.each(['http://169.254.169.254/', 'http://0xa9fea9fe/', 'http://[fd00:ec2::254]/', 'http://0/'])(
    '%s is never allowed',
    (url) => expect(untrustedUrlProblem(url, { allowPrivate: true })).toMatch(/never allowed$/),
  )
})

test('an RPC url is accepted whole, not in its masked form', () => {
  expect(untrustedRpcUrlProblem('https://rpc.example.com/***', CAREFUL)).toMatch(/^expected the full URL/)
  expect(untrustedRpcUrlProblem('***', CAREFUL)).toMatch(/^expected the full URL/)
  expect(untrustedRpcUrlProblem('https://rpc.example.com/v2/key', CAREFUL)).toBeUndefined()
  expect(untrustedRpcUrlProblem('http://10.0.0.1/', CAREFUL)).toMatch(/private network/)
})
