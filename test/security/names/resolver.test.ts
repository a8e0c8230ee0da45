import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  createNameResolver,
  fullNames,
  type NameResolverOptions,
  parseSearchDomains,
} from '../../../src/security/name-resolver.ts'
import { type NameQuestion, type NameReply, startNameServer } from '../../support/name-server.ts'

async function start(answer: (question: NameQuestion) => NameReply, options: NameResolverOptions = {}) {
  const server = await startNameServer(answer)
  onTestFinished(server.stop)
  const resolver = createNameResolver({ servers: [server.address], ...options })
  const asked = (name: string) => server.questions.filter((one) => one.name === name).length
  return { ...resolver, asked }
}

const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error) => error.code,
  )

test('a name has the addresses of both families', async () => {
  const { resolve } = await start(() => ['192.0.2.7', '2001:db8::7'])
  expect(await resolve('two.example')).toEqual([
    { address: '192.0.2.7', family: 4 },
    { address: '2001:db8::7', family: 6 },
  ])
})

test('a name server that never answers for IPv6 costs no address', async () => {
  const { resolve } = await start(({ type }) => (type === 'A' ? ['192.0.2.7'] : 'silent'), { timeoutMs: 300 })
  expect(await resolve('half.example')).toEqual([{ address: '192.0.2.7', family: 4 }])
})

test('look-ups of a host share one query, and its answer is remembered', async () => {
  const { resolve, asked } = await start(() => ['192.0.2.7'])
  await Promise.all(Array.from({ length: 50 }, () => resolve('Many.example')))
  await resolve('many.example')
  expect(asked('many.example')).toBe(2) // A and AAAA
})

test.each([
  ['none', 'ENOTFOUND'],
  ['failure', 'EAI_AGAIN'],
  ['silent', 'EAI_AGAIN'],
] as const)(
  'a name whose servers answer "%s" fails with %s, and the failure is remembered',
  async (reply, code) => {
    const { resolve, asked } = await start(() => reply, { timeoutMs: 200 })
    expect(await reasonOf(resolve('bad.example'))).toBe(code)
    const before = asked('bad.example')
    expect(before).toBeGreaterThan(0)
    expect(await reasonOf(resolve('bad.example'))).toBe(code)
    expect(asked('bad.example')).toBe(before)
  },
)

test('a silent name ends at the deadline, and its query asks no more', async () => {
  const { resolve, asked } = await start(() => 'silent', { timeoutMs: 150 })
  const started = performance.now()
  expect(await reasonOf(resolve('a.silent.example'))).toBe('EAI_AGAIN')
  expect(performance.now() - started).toBeLessThan(900)
  expect(asked('a.silent.example')).toBe(2)
})

test('hundreds of silent names delay no other', async () => {
  const silent = ({ name }: NameQuestion) => name.endsWith('.silent.example')
  const { resolve } = await start((question) => (silent(question) ? 'silent' : ['192.0.2.7']), {
    timeoutMs: 2_500,
  })
  const failures = Array.from({ length: 400 }, (_, index) => reasonOf(resolve(`n${index}.silent.example`)))
  const started = performance.now()
  expect(await resolve('well.example')).toHaveLength(1)
  expect(performance.now() - started).toBeLessThan(2_000)
  expect(new Set(await Promise.all(failures))).toEqual(new Set(['EAI_AGAIN']))
})

test('the hosts file counts before the name servers, and a change of it immediately', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hosts-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const hostsFile = join(folder, 'hosts')
  await writeFile(hostsFile, '10.1.2.3 receiver Receiver.internal # ours\nnonsense line\n::1 receiver\n')
  const { resolve, asked } = await start(() => ['192.0.2.7'], { hostsFile })
  expect(await resolve('receiver')).toEqual([
    { address: '10.1.2.3', family: 4 },
    { address: '::1', family: 6 },
  ])
  expect(await resolve('receiver.internal')).toEqual([{ address: '10.1.2.3', family: 4 }])
  await writeFile(hostsFile, '10.1.2.4 receiver\n')
  expect(await resolve('receiver')).toEqual([{ address: '10.1.2.4', family: 4 }])
  expect(asked('receiver')).toBe(0)
})

test.each(['localhost', 'sub.LOCALHOST'])('%s is this machine, whatever name servers say', async (name) => {
  const { resolve, asked } = await start(() => ['192.0.2.7'], { hostsFile: '/nowhere' })
  expect(await resolve(name)).toEqual([
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ])
  expect(asked(name.toLowerCase())).toBe(0)
})

test('a name that only the system knows is found where the resolver may ask it', async () => {
  const options = { hostsFile: '/nowhere' }
  const { hostname } = await import('node:os')
  const strict = await start(() => 'none', options)
  expect(await reasonOf(strict.resolve(hostname()))).toBe('ENOTFOUND')
  const { resolve } = await start(() => 'none', { ...options, asksSystem: true })
  expect((await resolve(hostname())).length).toBeGreaterThan(0)
})

test('the last search list counts, without its dots', () => {
  const text =
    'nameserver 10.0.0.10\ndomain old.example\nsearch shop.svc.cluster.local cluster.local.\noptions ndots:5\n'
  expect(parseSearchDomains(text)).toEqual(['shop.svc.cluster.local', 'cluster.local'])
  expect(parseSearchDomains('nameserver 10.0.0.10\n')).toEqual([])
})

test.each([
  ['hooks', ['hooks.a.example', 'hooks.b.example', 'hooks']],
  ['hooks.shop', ['hooks.shop', 'hooks.shop.a.example', 'hooks.shop.b.example']],
  ['hooks.example.', ['hooks.example']],
])('%s can mean %j', (host, names) => {
  expect(fullNames(host, ['a.example', 'b.example'])).toEqual(names)
})
