import { rm } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { createDataDir } from '../../support/data-dir.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { type Scenario, scenarioOf } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER, type Service, startService } from '../../support/service.ts'

let anvil: Anvil
let node: FaultyNode
let dataDir: string
let service: Service
let story: Scenario

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  node = await startFaultyNode(anvil.url)
  dataDir = await createDataDir()
  await start()
})
afterAll(async () => {
  await service.stop()
  await node.stop()
  await anvil.stop()
  await rm(dataDir, { recursive: true })
})
afterEach(async () => {
  node.fault = () => 'pass'
  await story.settle()
})

async function start() {
  service = await startService({ rpcUrls: [node.url], dataDir })
  story = scenarioOf(anvil, service)
}

async function restart() {
  await service.stop()
  await start()
}

const noBroadcast = (methods: readonly string[]) =>
  methods.includes('eth_sendRawTransaction') ? 'drop' : 'pass'

describe('after a restart (R15)', () => {
  test('relayers, notifications and finished transactions are still there', async () => {
    const sent = await story.send({ to: RECEIVER, value: 1 })
    await story.settle()
    const before = await story.get(sent.id)
    await restart()
    expect(await story.get(sent.id)).toEqual(before)
    const { body } = await service.api<{ id: string }[]>('GET', '/relayers')
    expect(body.data.map(({ id }) => id)).toEqual(['main', 'other'])
  })

  test('a pending transaction is signed and sent once', async () => {
    node.fault = () => 'drop'
    const sent = await story.send({ to: RECEIVER, value: 1, gas_limit: 21_000 })
    expect(sent.status).toBe('pending')
    await service.stop()
    node.fault = () => 'pass'
    await start()
    await story.settle()
    expect(await story.get(sent.id)).toMatchObject({ status: 'confirmed', attempts: [{ outcome: 'mined' }] })
  })

  test('a signed transaction goes out with the very bytes that were stored', async () => {
    node.fault = noBroadcast
    const sent = await story.send({ to: RECEIVER, value: 1 })
    const signed = await story.reach(sent.id, 'sent')
    await service.stop()
    node.fault = () => 'pass'
    await start()
    await story.settle()
    const final = await story.get(sent.id)
    expect(final).toMatchObject({ status: 'confirmed', hash: signed.hash, nonce: signed.nonce })
    expect(final.attempts).toHaveLength(1)
  })

  test('a submitted transaction can be replaced, and a mined one is confirmed', async () => {
    const sent = await story.send({ to: RECEIVER, value: 1 })
    await story.reach(sent.id, 'submitted')
    await restart()
    const { body } = await story.replace(sent.id, { to: RECEIVER, value: 9, speed: 'fast' })
    await story.mine()
    await story.reach(sent.id, 'mined')
    await restart()
    await story.settle()
    expect(await story.get(sent.id)).toMatchObject({ status: 'confirmed', hash: body.data.hash, value: '9' })
  })
})

describe('when the node is not to be trusted', () => {
  test('a lost reply to a broadcast neither takes a new nonce nor sends other bytes', async () => {
    let lost = 0
    node.fault = (methods) => (methods.includes('eth_sendRawTransaction') && lost++ < 2 ? 'lose' : 'pass')
    const sent = await story.send({ to: RECEIVER, value: 1 })
    await story.reach(sent.id, 'submitted')
    await story.settle()
    const final = await story.get(sent.id)
    expect(final.attempts).toHaveLength(1)
    expect(await story.minedHash(DEV_ADDRESSES[0], final.nonce ?? -1)).toBe(final.hash)
    expect(lost).toBeGreaterThan(1)
  })

  test.each(['drop', 'http_500', 'http_429'] as const)(
    'requests during %s on everything are accepted and executed later',
    async (fault) => {
      node.fault = () => fault
      const sent = await story.send({ to: RECEIVER, value: 1 })
      expect(sent.status).toBe('pending')
      const replaced = await story.replace(sent.id, { to: RECEIVER, value: 2 })
      expect(replaced.status).toBe(200)
      node.fault = () => 'pass'
      await story.settle()
      expect(await story.get(sent.id)).toMatchObject({ status: 'confirmed', value: '2' })
    },
  )

  test('a replacement while the node is silent fails clearly and changes nothing', async () => {
    const sent = await story.send({ to: RECEIVER, value: 1 })
    const before = await story.reach(sent.id, 'submitted')
    node.fault = () => 'drop'
    // Prices are remembered for a block; after that only the node can tell them.
    await new Promise((resolve) => setTimeout(resolve, 250))
    const { status, body } = await story.replace(sent.id, { to: RECEIVER, value: 2 })
    expect({ status, code: body.code, message: body.message }).toEqual({
      status: 500,
      code: 'network_unavailable',
      message: 'Internal Server Error',
    })
    expect((await story.get(sent.id)).attempts).toEqual(before.attempts)
  })

  test('a reorganisation moves the transaction back and the same bytes go out again', async () => {
    const sent = await story.send({ to: RECEIVER, value: 1 })
    await story.reach(sent.id, 'submitted')
    await story.mine()
    const mined = await story.reach(sent.id, 'mined')
    await anvil.rpc('anvil_reorg', [1, []])
    const back = await story.reach(sent.id, 'submitted')
    expect(back.hash).toBe(mined.hash)
    expect(back.status_reason).toContain('no longer in the chain')
    await story.settle()
    const final = await story.get(sent.id)
    expect(final).toMatchObject({ status: 'confirmed', hash: mined.hash })
    expect(final.attempts).toHaveLength(1)
  })
})
