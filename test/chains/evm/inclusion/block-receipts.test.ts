import { describe, expect, test } from 'vitest'
import { readManyReceipts } from '../../../../src/chains/evm/read/reads.ts'
import type { PooledClient, RpcCall, RpcReply } from '../../../../src/chains/rpc/rpc.ts'

const UNSUPPORTED: RpcReply = { kind: 'error', code: -32601, message: 'the method does not exist' }

const hashOf = (index: number) => `0x${String(index).padStart(64, '0')}`
const hashes = (count: number) => Array.from({ length: count }, (_, index) => hashOf(index))

function receipt(hash: string, block: number) {
  return {
    transactionHash: hash,
    blockNumber: `0x${block.toString(16)}`,
    blockHash: `0xb${block}`,
    status: '0x1',
    gasUsed: '0x5208',
  }
}

/** A node whose blocks hold these transactions; it counts what it is asked. */
function nodeWith(
  blocks: Readonly<Record<number, readonly string[]>>,
  blockReceipts: 'served' | 'unknown' = 'served',
) {
  const asked: string[] = []
  const answer = ({ method, params }: RpcCall): RpcReply => {
    asked.push(method)
    if (method === 'eth_getBlockReceipts') {
      if (blockReceipts === 'unknown') return UNSUPPORTED
      const [height] = params as [string]
      const number = Number(height)
      return { kind: 'result', result: (blocks[number] ?? []).map((hash) => receipt(hash, number)) }
    }
    const [hash] = params as [string]
    const block = Object.entries(blocks).find(([, mayBeInPool]) => mayBeInPool.includes(hash))
    return { kind: 'result', result: block === undefined ? null : receipt(hash, Number(block[0])) }
  }
  const client: PooledClient = {
    send: async (calls) => calls.map(answer),
    call: async (method, params) => answer({ method, params }),
    sendAsOf: async (calls) => calls.map((call) => ({ reply: answer(call), behind: false })),
    sendToEach: () => [],
    sendEverywhere: async (calls) => [calls.map((call) => ({ reply: answer(call), behind: false }))],
    broadcast: async () => [],
    forward: async (calls) => calls.map(answer),
    seenHead: () => undefined,
    states: () => [],
  }
  return { client, asked, count: (method: string) => asked.filter((name) => name === method).length }
}

describe('receipts of many', () => {
  test('are read from the block that holds them, in one call', async () => {
    const node = nodeWith({ 10: [...hashes(40), '0xsomebody-else'] })
    const answers = await readManyReceipts(node.client, hashes(40), 10n)
    expect(answers.map(({ kind }) => kind)).toEqual(Array(40).fill('included'))
    expect(node.asked).toEqual(['eth_getBlockReceipts'])
  })

  test('keep the order of the hashes across blocks, and the rest is asked for one by one', async () => {
    const [first, second, missing] = [hashes(60).slice(0, 25), hashes(60).slice(25, 50), hashes(60).slice(50)]
    const node = nodeWith({ 9: first, 10: second })
    const answers = await readManyReceipts(node.client, [...missing, ...first, ...second], 10n)
    const seen = answers.map((answer) =>
      answer.kind === 'included' ? Number(answer.receipt.blockNumber) : answer.kind,
    )
    expect(seen).toEqual([...Array(10).fill('none'), ...Array(25).fill(9), ...Array(25).fill(10)])
    expect(node.count('eth_getTransactionReceipt')).toBe(10)
  })

  test('go no further back than four blocks with too few of them', async () => {
    const node = nodeWith({ 1: hashes(30), 99: hashes(49).slice(30) })
    await readManyReceipts(node.client, hashes(49), 100n)
    expect([node.count('eth_getBlockReceipts'), node.count('eth_getTransactionReceipt')]).toEqual([4, 30])
  })

  test('are read from as many blocks as hold enough of them', async () => {
    const all = hashes(200)
    const blocks = Array.from({ length: 10 }, (_, index) => [
      91 + index,
      all.slice(index * 20, index * 20 + 20),
    ])
    const node = nodeWith(Object.fromEntries(blocks))
    const answers = await readManyReceipts(node.client, all, 100n)
    expect(answers.every(({ kind }) => kind === 'included')).toBe(true)
    expect([node.count('eth_getBlockReceipts'), node.count('eth_getTransactionReceipt')]).toEqual([10, 0])
  })

  test('cost one call more where the node does not know the method', async () => {
    const node = nodeWith({ 10: hashes(30) }, 'unknown')
    const answers = await readManyReceipts(node.client, hashes(30), 10n)
    expect(answers.every(({ kind }) => kind === 'included')).toBe(true)
    expect([node.count('eth_getBlockReceipts'), node.count('eth_getTransactionReceipt')]).toEqual([1, 30])
  })

  test('few are asked for one by one, and so are those of no known block', async () => {
    const node = nodeWith({ 10: hashes(30) })
    await readManyReceipts(node.client, hashes(19), 10n)
    await readManyReceipts(node.client, hashes(30))
    expect(node.count('eth_getBlockReceipts')).toBe(0)
  })
})
