import { encodeErrorResult, type Hex, parseAbi, parseTransaction } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startAnvil } from '../../support/anvil.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import {
  type FaultyNode,
  type Habits,
  passUntilBroadcast,
  startFaultyNode,
} from '../../support/faulty-node.ts'
import type { WireEntry } from '../../support/forked.ts'
import { type Scenario, scenarioOf } from '../../support/scenario.ts'
import { RECEIVER, startService } from '../../support/service.ts'

const clock = createAdjustableClock()
let node: FaultyNode
let story: Scenario

beforeAll(async () => {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  node = await startFaultyNode(anvil.url)
  story = scenarioOf(
    anvil,
    await startService({ rpcUrls: [node.url], clock, env: { RPC_TIMEOUT_MS: '2000' } }),
  )
})
afterEach(async () => {
  node.habits = undefined
  node.fault = () => 'pass'
  // A height that was announced is there for the next story.
  await story.mine()
})
afterAll(async () => {
  await story.stop()
  await node.stop()
})

const lying = (lie: NonNullable<Habits['lie']>): Habits => ({ lie })
const pay = (value: number) => story.send({ to: RECEIVER, value, speed: 'fast' })

async function isIncluded(): Promise<void> {
  const { id } = await pay(1)
  await story.reach(id, 'submitted')
  await story.mine(3)
  await story.reach(id, 'confirmed')
}

describe('a node whose gateway', () => {
  test('echoes the ids of calls as text is answered like any other', async () => {
    node.habits = lying((call, reply) => ({ ...reply, id: String(call.id) }))
    await isIncluded()
  })

  test('answers with ids of other calls is not believed', async () => {
    node.habits = lying((call, reply) => ({ ...reply, id: `${call.id}1` }))
    const { status, body } = await story.service.api('GET', '/relayers/main/balance')
    expect([status, body.code]).toEqual([500, 'network_unavailable'])
  })

  const reason = encodeErrorResult({ abi: parseAbi(['error Error(string)']), args: ['sold out'] })
  const inner = { code: 3, message: 'execution reverted: sold out', data: reason }

  test.each<[string, unknown]>([
    ['in data', reason],
    ['as the text of data', 'execution reverted: sold out'],
    ['after "Reverted"', `Reverted ${reason}`],
    ['in data.data', inner],
    ['in data.message', { message: inner.message }],
    ['in data.originalError', { originalError: inner }],
    ['in data.cause.error', { cause: { error: inner } }],
    ['under the hash of the call', { '0x01': { error: 'revert', return: reason } }],
  ])('puts the reason of a revert %s is understood', async (_where, data) => {
    node.habits = lying((call, reply) =>
      call.method === 'eth_estimateGas'
        ? { jsonrpc: '2.0', id: call.id, error: { code: -32603, message: 'Internal JSON-RPC error.', data } }
        : reply,
    )
    const request = { to: RECEIVER, value: 0, data: '0xdeadbeef' }
    const { status, body } = await story.service.api('POST', '/relayers/main/transactions', request)
    expect([status, body.code, body.error]).toEqual([
      400,
      'execution_reverted',
      'The transaction would revert: sold out.',
    ])
  })
})

describe('a payment is included', () => {
  test('where the rewards of the fee history are negative', async () => {
    node.habits = lying((call, reply) => {
      if (call.method !== 'eth_feeHistory') return reply
      const history = reply.result as Readonly<Record<string, unknown>>
      return { ...reply, result: { ...history, reward: [['-0x3b9aca00', '-0x1', '0x0', '0x1']] } }
    })
    await isIncluded()
  })

  test('where a height is announced before its block is there', async () => {
    node.habits = lying((call, reply) => {
      if (call.method !== 'eth_blockNumber') return reply
      return { ...reply, result: `0x${(BigInt(String(reply.result)) + 1n).toString(16)}` }
    })
    await isIncluded()
  })

  test('once a block has it, and not with the receipt of a preconfirmation', async () => {
    node.habits = lying(preconfirmed)
    const { id } = await pay(2)
    await story.reach(id, 'submitted')
    await story.mine(3)
    const { receipt, hash } = await story.reach(id, 'confirmed')
    const mined = await story.anvil.rpc<{ blockHash: string }>('eth_getTransactionReceipt', [hash])
    expect(receipt).toMatchObject({ block_hash: mined.blockHash })
  })

  test('where broadcasts are answered with null, and the bytes are dropped twice', async () => {
    node.habits = lying((call, reply) =>
      call.method === 'eth_sendRawTransaction' ? { jsonrpc: '2.0', id: call.id, result: null } : reply,
    )
    const broadcasts = () => node.calls.get('eth_sendRawTransaction') ?? 0
    const { id } = await pay(3)
    const { hash } = await story.reach(id, 'submitted')
    for (const _ of [1, 2]) {
      await story.anvil.rpc('anvil_dropTransaction', [hash])
      await story.mine()
      await passUntilBroadcast({ clock, broadcasts }, 31_000)
    }
    await story.settle()
    expect(await story.reach(id, 'confirmed')).toMatchObject({ attempts: [{ outcome: 'mined' }] })
  })

  test('each once, where the pool takes no nonce but the next and has an outage', async () => {
    let next = BigInt(await story.anvil.rpc<string>('eth_getTransactionCount', [await sender(), 'pending']))
    let outage = 3
    node.fault = (methods) => (methods.includes('eth_sendRawTransaction') && outage-- > 0 ? 'drop' : 'pass')
    node.habits = {
      refuse: ({ method, params }) => {
        if (method !== 'eth_sendRawTransaction') return undefined
        const { nonce = 0 } = parseTransaction((params as [Hex])[0])
        if (BigInt(nonce) > next)
          return { code: -32000, message: `nonce too high: tx nonce ${nonce}, gapped nonce ${next}` }
        if (BigInt(nonce) === next) next += 1n
        return undefined
      },
    }
    const before = await balanceOf(RECEIVER)
    const sent = await Promise.all(Array.from({ length: 12 }, () => pay(1)))
    await story.settle()
    for (const { id } of sent) await story.reach(id, 'confirmed')
    expect((await balanceOf(RECEIVER)) - before).toBe(12n)
  })
})

/** A receipt with a block that no one knows, before there is one. */
function preconfirmed(call: WireEntry, reply: WireEntry): WireEntry {
  if (call.method !== 'eth_getTransactionReceipt' || reply.result !== null) return reply
  const [transactionHash] = call.params as [string]
  const block = { blockNumber: '0xffff', blockHash: `0x${'00'.repeat(32)}` }
  return { ...reply, result: { transactionHash, ...block, status: '0x1', gasUsed: '0x5208' } }
}

async function sender(): Promise<string> {
  const { body } = await story.service.api<{ address: string }>('GET', '/relayers/main')
  return body.data.address
}

async function balanceOf(address: string): Promise<bigint> {
  return BigInt(await story.anvil.rpc<string>('eth_getBalance', [address, 'latest']))
}
