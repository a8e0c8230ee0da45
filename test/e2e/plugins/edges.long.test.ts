import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyPlugins, type PluginFolder, readPlugin, untilReady } from '../../support/plugins.ts'
import { type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let folder: PluginFolder
let service: Service

beforeAll(async () => {
  folder = copyPlugins()
  service = await startService({
    rpcUrls: [],
    relayers: [],
    plugins: [
      { id: 'edges', path: folder.path('edges.ts') },
      { id: 'raw', path: folder.path('every-thing.ts'), raw_response: true },
    ],
  })
  await untilReady(service)
}, 60_000)
afterAll(async () => {
  await service?.stop()
  folder?.remove()
})

const use = async (params: object) => {
  const { status, body } = await service.api<never>('POST', '/plugins/edges/call', { params })
  expect(status).toBe(200)
  return body.data
}

/** [method, its values, what it gives or the reason of its refusal]: as in OpenZeppelin Relayer, whose store is Redis. */
const EDGES: readonly (readonly [string, readonly unknown[], unknown, boolean?])[] = [
  ['get', ['absent'], null],
  ['get', [7], null],
  ['get', [null], null],
  ['get', ['$undefined'], null],
  ['get', [''], 'KV_INVALID_KEY', true],
  ['get', ['a b'], 'KV_INVALID_KEY', true],
  ['get', ['$long'], 'KV_INVALID_KEY', true],
  ['get', ['$longer'], 'KV_INVALID_KEY', true],
  ['set', ['zero', 1, { ttlSec: 0 }], true],
  ['set', ['below', 1, { ttlSec: -5 }], true],
  ['set', ['part', 1, { ttlSec: 0.5 }], true],
  ['set', ['null', 1, { ttlSec: null }], true],
  ['set', ['text', 1, { ttlSec: '60' }], true],
  ['set', ['word', 1, { ttlSec: 'soon' }], true],
  ['set', ['nan', 1, { ttlSec: '$NaN' }], true],
  ['set', ['options', 1, null], true],
  ['set', ['absent-options', 1, '$undefined'], true],
  ['set', ['too-long', 1, { ttlSec: 1e12 }], 'KV_INVALID_TTL', true],
  ['set', ['endless', 1, { ttlSec: '$Infinity' }], 'KV_INVALID_TTL', true],
  ['set', ['nothing', '$undefined'], 'value must not be undefined', true],
  ['set', ['nil', null], true],
  ['set', [12, 'by number'], true],
  ['get', ['12'], 'by number'],
  ['set', ['$long', 1], 'KV_INVALID_KEY', true],
  ['set', ['large', '$longer'], 'KV_VALUE_TOO_LARGE', true],
  ['exists', ['zero'], true],
  ['exists', ['part'], true],
  ['exists', ['nil'], true],
  ['exists', ['absent'], false],
  ['exists', [null], true],
  ['del', ['absent'], false],
  ['del', ['nil'], true],
  ['del', ['nil'], false],
  ['listKeys', ['w*'], ['word']],
  ['listKeys', ['nul?'], ['null']],
  ['listKeys', ['w*', 1], ['word']],
  ['listKeys', [''], []],
  ['listKeys', [null], ['null']],
  ['listKeys', ['no such'], 'KV_INVALID_KEY', true],
  ['lock', ['free', {}], 'worked'],
  ['lock', ['free', null], 'worked'],
  ['lock', ['free', '$undefined'], 'worked'],
  ['lock', ['free', { ttlSec: null, onBusy: null }], 'worked'],
  ['lock', ['free', { ttlSec: 0.5 }], 'worked'],
  ['lock', ['free', { ttlSec: 7_200 }], 'worked'],
  ['lock', ['free', { ttlSec: 0 }], 'KV_INVALID_TTL', true],
  ['lock', ['free', { ttlSec: -1 }], 'KV_INVALID_TTL', true],
  ['lock', ['free', { ttlSec: '$NaN' }], 'KV_INVALID_TTL', true],
  ['lock', ['free', { ttlSec: 1e12 }], 'KV_INVALID_TTL', true],
  ['lock', ['$long', {}], 'KV_INVALID_KEY', true],
  ['lock', ['busy', { onBusy: 'skip' }, true], null],
  ['lock', ['busy', { onBusy: 'throw' }, true], 'LOCK_BUSY', true],
  ['lock', ['busy', { onBusy: 'else' }, true], 'LOCK_BUSY', true],
  ['lock', ['busy', null, true], 'LOCK_BUSY', true],
  ['clear', [], 10],
  ['clear', [], 0],
  ['listKeys', [], []],
]

describe('the context of a plugin, at its edges', () => {
  test.each(EDGES)('kv.%s%j', async (of, values, expected, isRefusal = false) => {
    expect(await use({ of, values })).toEqual(isRefusal ? { refused: expected } : { got: expected })
  })

  test.each([
    ['an unknown relayer', 'nobody'],
    ['an empty id', ''],
    ['an id that is no text', null],
    ['an id that is too long', 'x'.repeat(10_000)],
    ['an id of another path', '../../api-keys'],
  ])('%s rejects every method, and the process goes on', async (_what, id) => {
    for (const [method, ...values] of [
      ['getRelayer'],
      ['getRelayerStatus'],
      ['sendTransaction', { to: '0x' }],
      ['sendTransaction', null, null],
      ['getTransaction', { transactionId: 'x' }],
      ['getTransaction', '$undefined'],
      ['getTransaction', null],
      ['signTransaction', null],
      ['rpc', null],
    ])
      expect(await use({ of: 'relayer', id, method, values })).toEqual({ refused: expect.any(String) })
    expect((await readPlugin(service, 'edges')).state.restarts).toBe(0)
  })

  test('a wait for a transaction that does not exist rejects, with any options', async () => {
    const sent = { id: 'x', relayer_id: 'nobody' }
    for (const options of [null, {}, { timeout: 0 }, { timeout: null, interval: 0 }])
      expect(await use({ of: 'wait', values: [sent, options] })).toEqual({
        refused: expect.stringMatching(/not_found/),
      })
  })
})

describe('requests of a plugin', () => {
  test('wait for their turn when many are made at once', async () => {
    expect(await use({ of: 'many', number: 3_000 })).toEqual({ got: 3_000 })
  })
})

test('raw_response has the code and the details of an error alone', async () => {
  const refused = await service.api<never>('POST', '/plugins/raw/call/refuse', {})
  expect([refused.status, refused.body]).toEqual([404, { code: 'UNKNOWN_USER', details: { user: 'bob' } }])
  const broken = await service.api<never>('POST', '/plugins/raw/call/break', {})
  expect([broken.status, broken.body]).toEqual([500, { code: 'PLUGIN_ERROR', details: null }])
})

describe('a plugin in a folder of an existing deployment', () => {
  const home = mkdtempSync(join(tmpdir(), 'relayer-old-'))
  let old: Service

  beforeAll(async () => {
    mkdirSync(join(home, 'lib'))
    mkdirSync(join(home, 'examples'))
    // As OpenZeppelin Relayer's own: it imports the package for its enums, and keeps what it is given for itself.
    writeFileSync(
      join(home, 'lib/plugin.ts'),
      `import { TransactionStatus } from '@openzeppelin/relayer-sdk'
import net from 'node:net'
let kept: unknown = null
export async function runPlugin(main: unknown) { kept = main }
export const isDone = (status: string) => status === TransactionStatus.MINED && net && kept`,
    )
    writeFileSync(
      join(home, 'examples/oldest.ts'),
      `import { runPlugin } from '../lib/plugin'
import { RelayerNetworkType, TransactionStatus } from '@openzeppelin/relayer-sdk'
runPlugin(async (_api: unknown, params: { n: number }) => [params.n * 2, TransactionStatus.MINED, RelayerNetworkType.EVM])`,
    )
    writeFileSync(
      join(home, 'examples/own.ts'),
      `import { twice } from './lib/plugin'\nexport const handler = () => twice(21)`,
    )
    mkdirSync(join(home, 'examples/lib'))
    writeFileSync(join(home, 'examples/lib/plugin.ts'), 'export const twice = (n: number) => 2 * n')
    writeFileSync(join(home, 'none.ts'), 'export const other = () => 1')
    old = await startService({
      rpcUrls: [],
      relayers: [],
      plugins: ['examples/oldest', 'examples/own', 'none'].map((name) => ({
        id: name.replace('examples/', ''),
        path: join(home, `${name}.ts`),
      })),
    })
  }, 60_000)
  afterAll(async () => {
    await old?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  test('works in its oldest form, with the library beside it', async () => {
    await until(
      () => readPlugin(old, 'oldest'),
      ({ state }) => state.status === 'ready',
    )
    const { body } = await old.api<never>('POST', '/plugins/oldest/call', { params: { n: 21 } })
    expect(body.data).toEqual([42, 'mined', 'evm'])
  })

  test('may have a library of its own of the same name', async () => {
    const { body } = await old.api<never>('POST', '/plugins/own/call', {})
    expect(body.data).toBe(42)
  })

  test('without a handler never becomes ready, and says so', async () => {
    const { state } = await until(
      () => readPlugin(old, 'none'),
      ({ state }) => state.last_failure !== undefined,
    )
    expect(state.last_failure?.message).toBe('The process exports no function "handler", and has no hooks.')
    expect(state.status).toBe('waiting')
    const { status, body } = await old.api<never>('POST', '/plugins/none/call', {})
    expect([status, body.code]).toEqual([503, 'plugin_unavailable'])
  })
})
