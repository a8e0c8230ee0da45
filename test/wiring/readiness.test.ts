import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EndpointReport } from '../../src/chains/answer.ts'
import type { Chain } from '../../src/chains/chain.ts'
import type { SeenHead } from '../../src/networks/head-age.ts'
import type { Network } from '../../src/networks/network.ts'
import { createReadinessCheck } from '../../src/wiring/readiness.ts'
import { type Fixture, openFixture } from '../transactions/fixture.ts'
import { chainOf, createStubChain, SILENT_NETWORK } from '../transactions/stub-chain.ts'

let room: Fixture
beforeAll(async () => {
  room = await openFixture()
})
afterAll(() => room.close())

const WELL: EndpointReport = { host: 'a', maskedUrl: 'https://a/***', healthy: true, head: 7n }
const ILL: EndpointReport = {
  host: 'b',
  maskedUrl: 'https://b/***',
  healthy: false,
  lastError: 'the endpoint answered HTTP 500',
}

/** A network that answers, or not, through these endpoints. */
function chain(
  endpoints: readonly EndpointReport[],
  answers = true,
  seen?: SeenHead,
): { network: Network; chain: Chain } {
  const stub = createStubChain()
  stub.override = {
    verify: async () => (answers ? { kind: 'ok', value: undefined } : { kind: 'unknown', detail: 'silence' }),
    endpoints: () => [...endpoints],
    seenHead: () => seen,
  }
  return { network: { ...SILENT_NETWORK, chainId: 11_155_111 }, chain: chainOf(stub) }
}

test.each([
  { name: 'all endpoints well', chains: [chain([WELL])], want: 'healthy' },
  { name: 'one of two resting', chains: [chain([WELL, ILL])], want: 'degraded' },
  { name: 'no answer', chains: [chain([ILL], false)], want: 'unhealthy' },
  { name: 'one of two networks silent', chains: [chain([WELL]), chain([ILL], false)], want: 'degraded' },
  { name: 'no network in use', chains: [], want: 'healthy' },
])('networks with $name: $want', async ({ chains, want }) => {
  const check = createReadinessCheck({
    database: room.database,
    chains: () => new Map(chains.map((one, index) => [`network-${index}`, one])),
    loops: () => [],
    clock: room.clock,
  })
  expect((await check()).networks.status).toBe(want)
})

test('a network with a failing endpoint says how many, and names no host to callers without a key', async () => {
  const chains = () => new Map([['anvil', chain([WELL, ILL])]])
  const check = createReadinessCheck({ database: room.database, chains, loops: () => [], clock: room.clock })
  expect((await check()).networks.details).toEqual([
    { name: 'anvil', status: 'degraded', error: '1 of 2 endpoints failed recently.' },
  ])
})

test('a network that makes no blocks is degraded, although its endpoints answer', async () => {
  const now = room.clock.monotonic()
  const seen = { height: 7n, since: now - 61_000, confirmedAt: now, advanced: false }
  const check = createReadinessCheck({
    database: room.database,
    chains: () => new Map([['sepolia', chain([WELL], true, seen)]]),
    loops: () => [],
    clock: room.clock,
  })
  expect((await check()).networks).toEqual({
    status: 'degraded',
    details: [{ name: 'sepolia', status: 'degraded', error: 'No new block for 61 s.' }],
  })
})
