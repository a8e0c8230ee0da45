import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../support/faulty-node.ts'
import { type Scenario, scenarioOf } from '../support/scenario.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

let anvil: Anvil
let node: FaultyNode
let story: Scenario

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  node = await startFaultyNode(anvil.url)
  const network = { required_confirmations: 3 }
  story = scenarioOf(anvil, await startService({ rpcUrls: [node.url], network }))
})
afterAll(async () => {
  await story.stop()
  await node.stop()
})

const FIRST = '0x0000000000000000000000000000000000000101'
const SECOND = '0x0000000000000000000000000000000000000102'

/** The watcher sees the chain as it was a block ago; who asks for receipts or broadcasts meets the present, also in one request with others. */
const blindWatcher = (methods: readonly string[]) => {
  const asks = (...some: string[]) => methods.some((method) => some.includes(method))
  const isPresent = asks('eth_getTransactionReceipt', 'eth_sendRawTransaction')
  return !isPresent && asks('eth_getBlockByNumber', 'eth_getTransactionCount')
    ? ({ kind: 'lag', blocks: 1 } as const)
    : 'pass'
}

/** From here on, and not while a look that could see the present is still under way: looks follow one another. */
async function blindTheWatcher(): Promise<void> {
  const looks = async () => node.calls.get('eth_getBlockByNumber') ?? 0
  const before = await looks()
  node.fault = blindWatcher
  await until(looks, (count) => count >= before + 2)
}

// Found by the simulator (seed 1013 with kills): the stored bytes of the refused change were offered again.
test.each([
  ['replacement', (id: string) => story.replace(id, { to: SECOND, value: 2, speed: 'fastest' })],
  ['cancellation', (id: string) => story.cancel(id)],
])('a %s refused as too late is not executed either when the block is undone', async (_name, change) => {
  await anvil.rpc('evm_mine')
  const sent = await story.send({ to: FIRST, value: 1 })
  await story.reach(sent.id, 'submitted')
  await blindTheWatcher()
  await anvil.rpc('evm_mine')
  const { status, body } = await change(sent.id)
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'transaction_not_replaceable' })
  await anvil.rpc('anvil_reorg', [1, []])
  node.fault = () => 'pass'
  await story.settle()
  const final = await story.get(sent.id)
  expect(final).toMatchObject({ status: 'confirmed', value: '1', to: FIRST })
  expect(final.attempts.map(({ outcome }) => outcome)).toEqual(['mined', 'refused'])
  expect(BigInt(await anvil.rpc<string>('eth_getBalance', [SECOND, 'latest']))).toBe(0n)
})
