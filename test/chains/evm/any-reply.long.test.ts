import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { everyNonsense } from '../../../scripts/attack/rpc/lies.ts'
import { createEvmChain } from '../../../src/chains/evm/evm-chain.ts'
import type { EvmChain } from '../../../src/chains/evm/types.ts'
import { createLogger } from '../../../src/log.ts'
import { createHurriedClock } from '../../support/clock.ts'
import { type RpcServer, startRpcServer } from '../../support/rpc-server.ts'
import { SILENT_NETWORK } from '../../transactions/stub-chain.ts'
import { accountWith, FROM, requestOf } from './build.ts'

/** The answers of a healthy node. */
const IN_ORDER: Readonly<Record<string, unknown>> = {
  eth_chainId: '0x7a69',
  eth_blockNumber: '0x10',
  eth_getBalance: '0xde0b6b3a7640000',
  eth_getTransactionCount: '0x5',
  eth_estimateGas: '0x5208',
  eth_gasPrice: '0x3b9aca00',
  eth_maxPriorityFeePerGas: '0x3b9aca00',
  eth_feeHistory: {
    oldestBlock: '0xc',
    baseFeePerGas: ['0x7', '0x7', '0x7', '0x7', '0x7'],
    gasUsedRatio: [0.5, 0.5, 0.5, 0.5],
    reward: Array.from({ length: 4 }, () => ['0x1', '0x2', '0x3', '0x4']),
  },
  eth_getBlockByNumber: {
    number: '0x10',
    hash: `0x${'ab'.repeat(32)}`,
    parentHash: `0x${'aa'.repeat(32)}`,
    timestamp: '0x65000000',
    gasLimit: '0x1c9c380',
    gasUsed: '0x0',
    baseFeePerGas: '0x7',
    transactions: [],
  },
}

/** The digits of the column `transactions.cost`. */
const COST_DIGITS = 80

const answers = new Map<string, unknown>()
let server: RpcServer
let chain: EvmChain

beforeAll(async () => {
  server = await startRpcServer((calls) => {
    const replies = calls.map(({ id, method }) => ({
      jsonrpc: '2.0',
      id,
      result: answers.get(method) ?? null,
    }))
    return { body: replies.length === 1 ? replies[0] : replies }
  })
})
afterAll(() => server.stop())

function inOrder(): void {
  for (const [method, answer] of Object.entries(IN_ORDER)) answers.set(method, answer)
  const network = { ...SILENT_NETWORK, rpcUrls: [{ url: server.url, weight: 100 }] }
  chain = createEvmChain({
    network,
    rpcTimeoutMs: 5_000,
    clock: createHurriedClock(),
    log: createLogger({ level: 'silent' }),
  })
}
beforeEach(inOrder)

test('a transaction is prepared with the answers of a healthy node', async () => {
  expect((await chain.prepare(requestOf(), accountWith())).kind).toBe('ok')
})

test.each(Object.keys(IN_ORDER))(
  'whatever nonsense a node answers to %s, a transaction is prepared that can be stored, or none',
  async (method) => {
    for (const reply of everyNonsense(IN_ORDER[method])) {
      inOrder()
      answers.set(method, reply)
      const prepared = await chain.prepare(requestOf(), accountWith())
      await Promise.all([chain.verify(), chain.head(), chain.balance(FROM)])
      if (prepared.kind !== 'ok') continue
      const cost = chain.cost(prepared.value.draft)
      expect([JSON.stringify(reply), cost >= 0n, String(cost).length <= COST_DIGITS]).toEqual([
        JSON.stringify(reply),
        true,
        true,
      ])
    }
  },
)
