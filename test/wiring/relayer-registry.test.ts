import type { KyselyPlugin } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { createLogger } from '../../src/log.ts'
import { createNetworkDirectory } from '../../src/networks/directory.ts'
import { saveUntrustedUrls } from '../../src/networks/urls-store.ts'
import { findRelayer, removeRelayer, saveRelayer } from '../../src/relayers/store.ts'
import { createKey } from '../../src/signers/key.ts'
import { createKeyring } from '../../src/signers/keyring.ts'
import { evmAddress } from '../../src/signers/secp256k1.ts'
import { saveConfiguredSigner } from '../../src/signers/store.ts'
import { createRelayerRegistry, type RelayerRegistry } from '../../src/wiring/relayer-registry.ts'
import { createRelayerRuntimes, type RelayerRuntimes } from '../../src/wiring/relayer-runtime.ts'
import { createLoop, type Loop } from '../../src/workers/loop.ts'
import { createTestClock, type TestClock } from '../support/clock.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'
import { KEY_SERVICES } from '../support/key-services/connections.ts'
import { SILENT_NETWORK } from '../transactions/stub-chain.ts'

const KEY = createKey('dev', new Uint8Array(32).fill(7))
const ADDRESS = evmAddress(KEY.evm.publicKey)
const URLS = [{ url: 'http://127.0.0.1:9/', weight: 100 }]
const log = createLogger({ level: 'silent' })

let database: Database
let registry: RelayerRegistry
let runtimes: RelayerRuntimes
let clock: TestClock
/** Rows of relayers that the registry has read. */
let rowsRead: number
let networks: ReturnType<typeof createNetworkDirectory>
/** What the last look told. */
let looked: { all: readonly string[]; cannotAct: readonly string[] } | undefined
/** Watch loops, in the order in which they were made, and what became of them. */
let loops: { name: string; state: 'made' | 'started' | 'stopped'; relayers: () => string[] }[]

beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  await emptyDatabase(database)
  loops = []
  rowsRead = 0
  clock = createTestClock()
  const { db } = database
  await db.transaction().execute((tx) => saveConfiguredSigner(tx, { id: 'dev', type: 'plain' }))
  networks = createNetworkDirectory([{ ...SILENT_NETWORK, rpcUrls: URLS }], [])
  const keyring = createKeyring({
    db,
    sealer: undefined,
    configured: new Map([['dev', KEY]]),
    connection: KEY_SERVICES.requested,
  })
  runtimes = createRelayerRuntimes({ networks, keyring, rpcTimeoutMs: 1000, clock, log })
  registry = createRelayerRegistry({
    db: db.withPlugin(rowCounter),
    networks,
    runtimes,
    clock,
    log,
    onLook: (all, cannotAct) => {
      looked = { all, cannotAct }
    },
    createWatchLoop: ({ key, relayers }) => {
      const seen = {
        name: key,
        state: 'made' as 'made' | 'started' | 'stopped',
        relayers: () => relayers().map(({ id }) => id),
      }
      loops.push(seen)
      const loop = createLoop({ name: key, intervalMs: 1000, clock, log, work: async () => {} })
      return followed(loop, (state) => {
        seen.state = state
      })
    },
  })
})
afterEach(() => registry.loop.stop())

/** Counts the rows that queries return. */
const rowCounter: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  transformResult: async ({ result }) => {
    rowsRead += result.rows.length
    return result
  },
}

function followed(loop: Loop, tell: (state: 'started' | 'stopped') => void): Loop {
  return {
    ...loop,
    start: () => {
      tell('started')
      return loop.start()
    },
    stop: async () => {
      tell('stopped')
      await loop.stop()
    },
  }
}

const save = (
  id: string,
  changes: { address?: string; signerId?: string; customRpcUrls?: typeof URLS } = {},
) =>
  database.db.transaction().execute((tx) =>
    saveRelayer(tx, {
      id,
      name: id,
      network: SILENT_NETWORK.name,
      networkType: 'evm',
      address: ADDRESS,
      signerId: 'dev',
      paused: false,
      policies: {},
      ...changes,
    }),
  )

const states = () => loops.map(({ name, state }) => `${name} ${state}`)

test('relayers that come later are watched with the others, and those with urls of their own apart', async () => {
  await save('first')
  expect(await registry.look()).toEqual([])
  registry.loop.start()
  expect(states()).toEqual([`${SILENT_NETWORK.name} started`])

  await save('second')
  await save('third', { customRpcUrls: URLS })
  expect(await registry.look()).toEqual([])
  expect(states()).toEqual([`${SILENT_NETWORK.name} started`, `${SILENT_NETWORK.name}/third started`])
  expect(loops.map(({ relayers }) => relayers())).toEqual([['first', 'second'], ['third']])
  expect(registry.watchLoops()).toHaveLength(2)
})

test('a network without relayers is not watched any more', async () => {
  await save('first', { customRpcUrls: URLS })
  await registry.look()
  registry.loop.start()
  await database.db.transaction().execute((tx) => removeRelayer(tx, 'first'))
  await registry.look()
  expect(states()).toEqual([`${SILENT_NETWORK.name}/first stopped`])
  expect(registry.watchLoops()).toEqual([])
  expect((await registry.runtimesOf(['first'])).size).toBe(0)
})

test('other urls are another chain and another watch, for a network and for a relayer', async () => {
  await save('first')
  await save('own', { customRpcUrls: URLS })
  await registry.look()
  const chains = [...(await registry.runtimesOf(['first', 'own'])).values()].map(({ chain }) => chain)
  await registry.look()
  expect([...(await registry.runtimesOf(['first', 'own'])).values()].map(({ chain }) => chain)).toEqual(
    chains,
  )
  expect(loops).toHaveLength(2)

  const rpcUrls = [{ url: 'http://127.0.0.1:10/', weight: 100 }]
  const { type, name } = SILENT_NETWORK
  const changed = { type, name, rpcUrls, insteadOf: networks.insteadOf(type, name) }
  await database.db.transaction().execute((tx) => saveUntrustedUrls(tx, changed))
  await save('own', { customRpcUrls: rpcUrls })
  await registry.look()
  const now = [...(await registry.runtimesOf(['first', 'own'])).values()]
  expect(now.map(({ network }) => network.rpcUrls)).toEqual([rpcUrls, rpcUrls])
  expect(now.some(({ chain }) => chains.includes(chain))).toBe(false)
  expect(states().toSorted()).toEqual(
    [`${name} stopped`, `${name} made`, `${name}/own stopped`, `${name}/own made`].toSorted(),
  )
})

test('an event of a removed relayer reads no other relayer, and one of a new relayer reads that one', async () => {
  for (const id of ['first', 'second', 'gone']) await save(id)
  await registry.look()
  await database.db.transaction().execute((tx) => removeRelayer(tx, 'gone'))
  await registry.look()
  await save('late')

  rowsRead = 0
  const known = await registry.runtimesOf(['first', 'second'])
  expect([...known.keys()]).toEqual(['first', 'second'])
  expect(rowsRead).toBe(0)
  expect([...(await registry.runtimesOf(['gone', 'first'])).keys()]).toEqual(['first'])
  expect(rowsRead).toBe(0)
  expect([...(await registry.runtimesOf(['late', 'gone'])).keys()]).toEqual(['late'])
  expect(rowsRead).toBe(1)
})

test('a relayer that cannot act is told and left out, and the others act', async () => {
  await save('good')
  await save('keyless', { signerId: 'nobody' })
  await save('other', { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' })
  expect(await registry.look()).toEqual([
    'relayer "keyless" cannot act: there is no signer "nobody"',
    `relayer "other" cannot act: signer "dev" has the key of ${ADDRESS}, not of 0x70997970C51812dc3A010C7d01b50e0d17dc79C8`,
  ])
  expect(looked).toEqual({ all: ['good', 'keyless', 'other'], cannotAct: ['keyless', 'other'] })
  expect(loops.map(({ relayers }) => relayers())).toEqual([['good']])
  expect([...(await registry.runtimesOf(['good', 'keyless'])).keys()]).toEqual(['good'])
})

test('the keys of a relayer that is gone are forgotten when no request can hold it any more', async () => {
  await save('first')
  await registry.look()
  const relayer = await findRelayer(database.db, 'first')
  if (relayer === undefined) throw new Error('it was saved')
  await database.db.transaction().execute((tx) => removeRelayer(tx, 'first'))
  await registry.look()
  clock.advance(3_599_000)
  await registry.look()
  expect(runtimes.runtimeOf(relayer).account.address).toBe(ADDRESS)
  clock.advance(1_000)
  await registry.look()
  expect(() => runtimes.runtimeOf(relayer)).toThrow('before it was prepared')

  await save('first')
  expect(await registry.look()).toEqual([])
  expect(runtimes.runtimeOf(relayer).account.address).toBe(ADDRESS)
})
