import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, anvilNetwork, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { type PrivateEndpoint, startPrivateEndpoint } from '../../support/private-endpoint.ts'
import { startProcess } from '../../support/process.ts'
import { callService, DEV_KEYS, plainSigner, RECEIVER, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const BLOCKS = 4

let anvil: Anvil
let endpoint: PrivateEndpoint
let folder: string

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  endpoint = await startPrivateEndpoint()
  folder = await mkdtemp(join(tmpdir(), 'relayer-private-'))
})
afterAll(async () => {
  await endpoint.stop()
  await anvil.stop()
  await rm(folder, { recursive: true })
})

const start = () =>
  startProcess({
    rpcUrl: anvil.url,
    folder,
    config: {
      relayers: [
        {
          id: 'main',
          name: 'Main',
          signer_id: 'dev',
          ...ON_ANVIL,
          policies: { private_transactions: true, private_fallback_blocks: BLOCKS },
        },
      ],
      signers: [plainSigner('dev', DEV_KEYS[0])],
      notifications: [],
      networks: [anvilNetwork([anvil.url], { private_rpc_urls: [endpoint.url] })],
    },
  })

test('a service killed between private broadcast and record broadcasts the same bytes privately', async () => {
  endpoint.behave(() => 'silent')
  const first = await start()
  const body = { to: RECEIVER, value: 1 }
  const { data } = (
    await callService<Transaction>(first.url, { method: 'POST', path: '/relayers/main/transactions', body })
  ).body
  const handedOver = (count: number) =>
    until(
      async () => endpoint.raws.length,
      (seen) => seen >= count,
    )
  await handedOver(1)
  await first.kill()
  endpoint.behave(undefined)
  await anvil.rpc('anvil_mine', ['0x2'])
  const before = endpoint.raws.length
  const second = await start()
  await handedOver(before + 1)
  expect(new Set(endpoint.raws).size).toBe(1)
  const pool = () => anvil.rpc<object>('txpool_status')
  expect(await pool()).toEqual({ pending: '0x0', queued: '0x0' })
  const path = `/relayers/main/transactions/${data.id}`
  const get = async () => (await callService<Transaction>(second.url, { method: 'GET', path })).body.data
  await until(get, ({ status }) => status === 'submitted')
  // The first broadcast was at block 0, so the fourth block is the last private one.
  await anvil.rpc('anvil_mine', ['0x2'])
  const opened = await until(get, (seen) => 'made_public_at' in seen)
  expect(opened.attempts).toHaveLength(1)
  await until(pool, (seen) => JSON.stringify(seen) === JSON.stringify({ pending: '0x1', queued: '0x0' }))
  await second.terminate()
}, 60_000)
