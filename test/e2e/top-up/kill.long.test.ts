import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, anvilNetwork, startAnvil } from '../../support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { startProcess } from '../../support/process.ts'
import { callService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { ETHER, HOT, topUpConfig } from './scenario.ts'

let anvil: Anvil
let node: FaultyNode
let folder: string

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  await anvil.rpc('anvil_setBalance', [HOT, '0x0'])
  node = await startFaultyNode(anvil.url)
  folder = await mkdtemp(join(tmpdir(), 'relayer-top-up-'))
})
afterAll(async () => {
  await node.stop()
  await anvil.stop()
  await rm(folder, { recursive: true })
})

const start = () =>
  startProcess({
    rpcUrl: node.url,
    folder,
    env: { RELAYER_HEALTH_INTERVAL_SECONDS: '5' },
    config: { ...topUpConfig(), notifications: [], networks: [anvilNetwork([node.url])] },
  })

const read = async (url: string) =>
  (await callService<Transaction[]>(url, { method: 'GET', path: '/relayers/treasury/transactions' })).body
    .data

test('killed after each step of a top-up, the service pays it once', async () => {
  // The node takes nothing, so the first process ends between its decision and the broadcast.
  node.fault = (methods) => (methods.includes('eth_sendRawTransaction') ? 'drop' : 'pass')
  const first = await start()
  const [decided] = await until(
    () => read(first.url),
    ([one]) => one?.status === 'sent',
  )
  await first.kill()
  // The second one ends after the broadcast, before it has the reply.
  node.fault = (methods) => (methods.includes('eth_sendRawTransaction') ? 'lose' : 'pass')
  const second = await start()
  await until(
    () => anvil.rpc<{ pending: string }>('txpool_status'),
    ({ pending }) => pending === '0x1',
  )
  await second.kill()
  node.fault = () => 'pass'
  const third = await start()
  const settled = await until(
    async () => {
      await anvil.rpc('evm_mine')
      return read(third.url)
    },
    (seen) => seen.every(({ status }) => status === 'confirmed'),
  )
  expect(settled.map(({ id }) => id)).toEqual([decided?.id])
  const status = async () =>
    (await callService<{ top_up?: object }>(third.url, { method: 'GET', path: '/relayers/hot/status' })).body
      .data
  await until(status, ({ top_up }) => JSON.stringify(top_up) === JSON.stringify({ state: 'enough' }))
  expect(BigInt(await anvil.rpc<string>('eth_getBalance', [HOT, 'latest']))).toBe(2n * ETHER)
  expect(await read(third.url)).toHaveLength(1)
  await third.terminate()
}, 120_000)
