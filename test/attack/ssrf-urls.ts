import type { Random } from '../faults/random.ts'

/** Ways to write this machine as a host. */
const HOSTS = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '0x7f.1',
  '0x7f000001',
  '0177.0.0.1',
  '017700000001',
  '2130706433',
  '127.255.255.254',
  '127.0.0.1.',
  '0.0.0.0',
  '0',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'any.localhost',
  'user:password@localhost',
  'example.com@127.0.0.1',
  '127.0.0.1%2f',
  '１２７.0.0.1',
  '127。0。0。1',
  'ⓛocalhost',
  '%31%32%37.0.0.1',
] as const

/** Hosts that are nowhere legitimate, whatever the deployment allows. */
const METADATA_HOSTS = [
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '[::ffff:a9fe:a9fe]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
] as const

/** Returns urls that lead to a port of this machine, or to no http server at all. */
export function localUrls(port: number, random: Random): readonly string[] {
  const octets = () => [127, random.int(0, 255), random.int(0, 255), random.int(1, 254)]
  const drawn = Array.from({ length: 4 }, () =>
    octets()
      .map((octet) => writeOctet(octet, random))
      .join('.'),
  )
  const hosts = [...HOSTS, ...drawn]
  return [
    ...hosts.map((host) => `http://${host}:${port}/`),
    `http:127.0.0.1:${port}/`,
    `http:\\\\127.0.0.1:${port}\\`,
    `http://127.0.0.1:${port}#@example.com/`,
    `http://example.com\\@127.0.0.1:${port}/`,
    `HTTP://127.0.0.1:${port}/`,
    `https://127.0.0.1:${port}/`,
    `ws://127.0.0.1:${port}/`,
    `ftp://127.0.0.1:${port}/`,
    `gopher://127.0.0.1:${port}/`,
    'file:///etc/passwd',
    'data:text/plain,x',
  ]
}

/** Returns urls of metadata services. */
export function metadataUrls(): readonly string[] {
  return METADATA_HOSTS.map((host) => `http://${host}/latest/meta-data/`)
}

/** The names that an attacker's name server resolves to addresses of this machine and of private networks. */
export const PRIVATE_NAMES: Readonly<Record<string, readonly string[]>> = {
  'v4.attack.example': ['127.0.0.1'],
  'v6.attack.example': ['::1'],
  'both.attack.example': ['127.0.0.1', '::1'],
  'mapped.attack.example': ['::ffff:7f00:1'],
  'translated.attack.example': ['64:ff9b::7f00:1'],
  'compatible.attack.example': ['::7f00:1'],
  'any.attack.example': ['0.0.0.0', '::'],
  'high.attack.example': ['127.255.255.254'],
  'metadata.attack.example': ['169.254.169.254'],
  'intranet.attack.example': ['10.0.0.1', '192.168.0.1', '172.16.0.1', 'fd00::1'],
}

function writeOctet(octet: number, random: Random): string {
  return random.pick([String(octet), `0x${octet.toString(16)}`, `0${octet.toString(8)}`])
}
