import pg from 'pg'
import { privateKeyToAddress } from 'viem/accounts'
import { type Anvil, anvilNetwork, startAnvil } from '../../../test/support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../../test/support/faulty-node.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { startProcess } from '../../../test/support/process.ts'
import { callService } from '../../../test/support/service.ts'
import { percentile, type Row, single, withoutPostgres } from '../measurement.ts'
import { keyOf, manyRelayers } from '../support/many-relayers.ts'
import {
  AS_IN_IMAGE,
  BODY,
  confirmed,
  pause,
  send,
  transactionsOf,
  WARM_UP,
  withFolder,
  withService,
} from '../support/stage.ts'

/** The time between blocks in ms, as on most rollups. */
const BLOCK_MS = 2_000

/**
 * The checks of the start are over after this time, in ms; with it, each period begins between two checks.
 */
const SETTLE_MS = 50_000

/** Calls are counted for this time, in ms: two rounds of health checks. */
const PERIOD_MS = 60_000

/**
 * Transactions under light load, and the time between two of them, in ms: what was read for one is too old
 * for the next.
 */
const LIGHT = 15
const LIGHT_PAUSE_MS = 6_000

const BYTES = 'PostgreSQL, bytes per transaction with its attempt, events and indexes'

/**
 * The units of hosted providers for one call, from their public tables (docs/what-it-costs.md); methods
 * without a row cost `other`.
 */
const UNITS = {
  'Alchemy compute units': {
    other: 20,
    eth_chainId: 0,
    eth_blockNumber: 10,
    eth_feeHistory: 10,
    eth_call: 26,
    eth_sendRawTransaction: 40,
  },
  'Infura credits': { other: 80 },
  'QuickNode credits': { other: 20 },
} as const satisfies Readonly<Record<string, Readonly<Record<string, number>> & { readonly other: number }>>

type Counts = ReadonlyMap<string, number>

/**
 * Counts the calls to nodes inside of batches: at rest, for a transaction, and what they cost at hosted
 * providers.
 */
export async function benchCalls({
  transactions,
  relayers,
}: {
  transactions: number
  relayers: number
}): Promise<Row[]> {
  const cases: readonly Resting[] = [
    { relayers: 1, endpoints: 1, limit: 14 },
    { relayers: 100, endpoints: 1, limit: 40 },
    { relayers, endpoints: 1, limit: 40 },
    { relayers: 1, endpoints: 3 },
    { relayers, endpoints: 3 },
  ]
  // Calls are counted and nothing is timed, so they may run beside each other.
  const resting = await Promise.all(cases.map(rowsAtRest))
  return [...resting.flat(), ...(await underLoad(transactions))]
}

/** Relayers of one network of which no one sends anything. */
interface Resting {
  readonly relayers: number
  readonly endpoints: number
  /** The most calls a minute. */
  readonly limit?: number
}

async function rowsAtRest(resting: Resting): Promise<Row[]> {
  const { relayers, endpoints, limit } = resting
  const counts = await atRest(resting)
  const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`
  const who = `${plural(relayers, 'idle relayer')}, ${plural(endpoints, 'endpoint')}, blocks of 2 s`
  return [
    single(`calls to nodes a minute, ${who}`, sum(counts), {
      unit: '',
      ...(limit !== undefined && { limit }),
    }),
    ...unitsOf(`a day, ${who}`, counts, 24 * 60),
  ]
}

function sum(counts: Counts): number {
  return [...counts.values()].reduce((total, count) => total + count, 0)
}

function unitsOf(what: string, counts: Counts, times: number): Row[] {
  return Object.entries(UNITS).map(([provider, units]) => {
    const prices: Readonly<Record<string, number>> = units
    const total = [...counts].reduce(
      (all, [method, count]) => all + count * (prices[method] ?? units.other),
      0,
    )
    return single(`${provider} ${what}`, total * times, { unit: '' })
  })
}

/** The calls of a minute by method. */
async function atRest({ relayers: count, endpoints }: Resting): Promise<Counts> {
  const anvil = await startAnvil({ args: ['--block-time', `${BLOCK_MS / 1_000}`] })
  const nodes = await Promise.all(Array.from({ length: endpoints }, () => startFaultyNode(anvil.url)))
  try {
    await fund(anvil, count)
    const network = anvilNetwork(
      nodes.map(({ url }) => url),
      { average_blocktime_ms: BLOCK_MS },
    )
    return await withFolder(async (folder) => {
      const config = manyRelayers(count, [network])
      const service = await startProcess({ rpcUrl: '', folder, config, env: AS_IN_IMAGE })
      try {
        await pause(SETTLE_MS)
        for (const { calls } of nodes) calls.clear()
        await pause(PERIOD_MS)
        return together(nodes)
      } finally {
        await service.terminate()
      }
    })
  } finally {
    await Promise.all(nodes.map((node) => node.stop()))
    await anvil.stop()
  }
}

async function fund(anvil: Anvil, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    await anvil.rpc('anvil_setBalance', [privateKeyToAddress(keyOf(index)), '0xde0b6b3a7640000'])
}

function together(nodes: readonly FaultyNode[]): Counts {
  const counts = new Map<string, number>()
  for (const { calls } of nodes)
    for (const [method, count] of calls) counts.set(method, (counts.get(method) ?? 0) + count)
  return counts
}

/** The calls for each transaction, one at a time and at full load, with what they take in PostgreSQL. */
async function underLoad(transactions: number): Promise<Row[]> {
  if (!hasPostgres()) return withoutPostgres(BYTES)
  const postgres = await startPostgres()
  try {
    const databaseUrl = await postgres.createDatabase()
    return await withService({ way: 'counted', databaseUrl }, async ({ node, service }) => {
      node.calls.clear()
      const toNode: number[] = []
      for (let count = 0; count < LIGHT; count += 1) {
        const arrived = Promise.withResolvers<number>()
        node.fault = (methods) => {
          if (methods.includes('eth_sendRawTransaction')) arrived.resolve(performance.now())
          return 'pass'
        }
        const start = performance.now()
        await callService(service.url, { method: 'POST', path: transactionsOf('main'), body: BODY })
        toNode.push((await arrived.promise) - start)
        await pause(LIGHT_PAUSE_MS)
      }
      await confirmed(service, WARM_UP + LIGHT)
      const light = perTransaction(node.calls, LIGHT)
      const before = await databaseBytes(databaseUrl)
      node.calls.clear()
      await send(service, transactions)
      await confirmed(service, WARM_UP + LIGHT + transactions)
      const full = perTransaction(node.calls, transactions)
      const bytes = ((await databaseBytes(databaseUrl)) - before) / transactions
      return [
        single('calls to nodes per transaction, one in six seconds, all calls of the time', sum(light), {
          unit: '',
          digits: 1,
        }),
        ...unitsOf('for it', light, 1),
        single('calls to nodes per transaction, full load', sum(full), { unit: '', digits: 2, limit: 1.5 }),
        ...unitsOf('for it, full load', full, 1),
        single('after a rest: from the request to the node, p50', percentile(toNode, 0.5), {
          unit: 'ms',
          digits: 1,
        }),
        single(BYTES, bytes, { unit: 'bytes' }),
      ]
    })
  } finally {
    await postgres.stop()
  }
}

function perTransaction(calls: Counts, transactions: number): Counts {
  return new Map([...calls].map(([method, count]) => [method, count / transactions]))
}

async function databaseBytes(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ bytes: string }>(
      'select sum(pg_total_relation_size(oid)) as bytes from pg_class where relkind = $1 and relnamespace = $2::regnamespace',
      ['r', 'public'],
    )
    return Number(rows[0]?.bytes)
  } finally {
    await client.end()
  }
}
