import type { Schemas } from '../../src/contract/operations.ts'
import { startNameServer } from '../../test/support/name-server.ts'
import type { Random } from '../../test/support/random.ts'
import { type Service, startService } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'
import { type Attack, type AttackContext, createTally, type Report, type Tally } from './attack.ts'
import { startHitCounter } from './watch.ts'

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
function localUrls(port: number, random: Random): readonly string[] {
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
function metadataUrls(): readonly string[] {
  return METADATA_HOSTS.map((host) => `http://${host}/latest/meta-data/`)
}

/** The names that an attacker's name server resolves to addresses of this machine and of private networks. */
const PRIVATE_NAMES: Readonly<Record<string, readonly string[]>> = {
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

/** Names every url that leads to this machine, wherever a caller may name one, and counts who connects to it. */
export const ssrf: Attack = { name: 'ssrf', run }

type Delivery = Schemas['Delivery']

/** Statuses whose `Location` clients follow. */
const REDIRECTS = [301, 302, 303, 307, 308] as const

/** A call to an endpoint that cannot be reached takes a second, so each round asks other ones. */
const ENDPOINTS_ASKED = 4
const REDIRECTS_TRIED = 2

/** An address that no one has is given up after this time, so that a broken guard is reported soon. */
const SHORT = { RPC_TIMEOUT_MS: '1000', RELAYER_WEBHOOK_TIMEOUT_SECONDS: '1' }

async function run({ random }: AttackContext): Promise<Report> {
  const tally = createTally()
  const listener = await startHitCounter()
  const names = await startNameServer(({ name }) => PRIVATE_NAMES[name] ?? 'none')
  try {
    const named = Object.keys(PRIVATE_NAMES).map((name) => `http://${name}:${listener.port}/`)
    const urls = localUrls(listener.port, random.fork('urls'))
    const asked = draw(random, { items: named, count: ENDPOINTS_ASKED })
    const isReached = () => listener.hits() > 0
    await tryClosed(tally, {
      webhooks: [...urls, ...named],
      endpoints: [...urls, ...asked],
      nameServer: names.address,
      isReached,
    })
    tally.check(listener.hits() === 0, () => `${listener.hits()} connections reached the listener`)
    if (!tally.isFull() && listener.hits() === 0)
      await tryOpen(tally, draw(random, { items: REDIRECTS, count: REDIRECTS_TRIED }))
  } finally {
    await names.stop()
    await listener.stop()
  }
  return tally.report()
}

function draw<T>(random: Random, { items, count }: { items: readonly T[]; count: number }): T[] {
  return Array.from({ length: count }, () => random.pick(items))
}

interface Closed {
  readonly webhooks: readonly string[]
  readonly endpoints: readonly string[]
  readonly nameServer: string
  /** True when a connection has arrived; further tries would only wait for addresses that do not answer. */
  readonly isReached: () => boolean
}

/** A service that allows the public internet only. Its operator's own webhook shows that deliveries leave at all. */
async function tryClosed(
  tally: Tally,
  { webhooks, endpoints, nameServer, isReached }: Closed,
): Promise<void> {
  const own = await startHitCounter()
  const service = await startService({
    rpcUrls: ['http://127.0.0.1:9'],
    env: SHORT,
    notificationUrl: `http://127.0.0.1:${own.port}/`,
    nameServers: [nameServer],
  })
  try {
    await tryWebhooks(tally, service, webhooks)
    if (!isReached()) await tryEndpoints(tally, service, endpoints)
    await tryWebhook(tally, service, 'ops')
    tally.check(own.hits() > 0, () => "the operator's own webhook was not sent")
  } finally {
    await service.stop()
    await own.stop()
  }
}

/** A service that allows private addresses: metadata services and redirects stay out of reach. */
async function tryOpen(tally: Tally, redirects: readonly number[]): Promise<void> {
  const target = await startHitCounter()
  const env = { ...SHORT, RELAYER_ALLOW_PRIVATE_URLS: 'true' }
  const service = await startService({ rpcUrls: ['http://127.0.0.1:9'], env })
  try {
    for (const url of metadataUrls()) await tryMetadata(tally, service, url)
    for (const status of redirects) await tryRedirect(tally, service, { status, port: target.port })
    tally.check(target.hits() === 0, () => `${target.hits()} redirects were followed`)
  } finally {
    await service.stop()
    await target.stop()
  }
}

async function tryMetadata(tally: Tally, service: Service, url: string): Promise<void> {
  const answers = [
    await service.api('POST', '/notifications', { url }),
    await service.api('PATCH', '/networks/evm:anvil', { rpc_urls: [url] }),
    await service.api('PATCH', '/relayers/other', { custom_rpc_urls: [{ url }] }),
  ]
  for (const { status } of answers) tally.check(status === 400, () => `${url} was answered ${status}`)
}

async function tryRedirect(
  tally: Tally,
  service: Service,
  { status, port }: { status: number; port: number },
): Promise<void> {
  const location = `http://127.0.0.1:${port}/`
  const redirect = await startHitCounter({ status, headers: { location, refresh: `0;url=${location}` } })
  const urls = [`http://127.0.0.1:${redirect.port}/`]
  await tryWebhooks(tally, service, urls)
  await tryEndpoints(tally, service, urls)
  tally.check(redirect.hits() > 0, () => `the redirect with ${status} was never asked`)
  await redirect.stop()
}

async function tryWebhooks(tally: Tally, service: Service, urls: readonly string[]): Promise<void> {
  const created: string[] = []
  for (const url of urls) {
    const { status, body } = await service.api<{ id: string }>('POST', '/notifications', { url })
    tally.check([201, 400].includes(status), () => `a notification to ${url} was answered ${status}`)
    if (status === 201) created.push(body.data.id)
  }
  await Promise.all(created.map((id) => tryWebhook(tally, service, id)))
}

async function tryEndpoints(tally: Tally, service: Service, urls: readonly string[]): Promise<void> {
  for (const url of urls) await tryEndpoint(tally, service, url)
}

/** Waits for the first try of a test event. */
async function tryWebhook(tally: Tally, service: Service, id: string): Promise<void> {
  const { status } = await service.api('POST', `/notifications/${id}/test`)
  const { body } = await until(
    () => service.api<Delivery[]>('GET', `/notifications/${id}/deliveries`),
    (answer) => (answer.body.data[0]?.tries ?? 0) > 0 || answer.body.data[0]?.status === 'delivered',
  )
  tally.check(status === 200 && body.data.length > 0, () => `the test event of ${id} was answered ${status}`)
}

/** Makes the url an endpoint of a network and of a relayer, and asks it something. */
async function tryEndpoint(tally: Tally, service: Service, url: string): Promise<void> {
  const places = [
    { path: '/networks/evm:anvil', relayer: 'main', body: { rpc_urls: [url] } },
    { path: '/relayers/other', relayer: 'other', body: { custom_rpc_urls: [{ url }] } },
  ]
  for (const { path, relayer, body } of places) {
    const { status } = await service.api('PATCH', path, body)
    tally.check([200, 400].includes(status), () => `PATCH ${path} with ${url} was answered ${status}`)
    // A refused url changed nothing, so there is nothing new to ask.
    if (status !== 200) continue
    const call = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' }
    const asked = await service.api('POST', `/relayers/${relayer}/rpc`, call)
    tally.check(asked.status === 200, () => `a call to ${url} was answered ${asked.status}`)
  }
}
