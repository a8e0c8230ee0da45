import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmChain } from '../../../src/chains/evm/evm-chain.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { createLogger } from '../../../src/log.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { SILENT_NETWORK } from '../../transactions/stub-chain.ts'

const ADDRESS = '0x00000000000000000000000000000000000000aA'

let anvil: Anvil
let node: FaultyNode
beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] })
  node = await startFaultyNode(anvil.url)
  await anvil.rpc('anvil_mine', ['0xa'])
  await anvil.rpc('anvil_setBalance', [ADDRESS, '0x5'])
})
afterAll(async () => {
  await node.stop()
  await anvil.stop()
})

/** A chain that has not asked anything yet, as after a restart. */
function newChain() {
  const network = { ...SILENT_NETWORK, rpcUrls: [{ url: node.url, weight: 100 }] }
  const log = createLogger({ level: 'silent' })
  return createEvmChain({ network, rpcTimeoutMs: 5_000, clock: systemClock, log })
}

test('the funds of an account are unknown from a node that has not reached the wanted block', async () => {
  expect(await newChain().funding.read(ADDRESS, { asOf: 10n })).toEqual({
    kind: 'ok',
    value: { spendable: 5n, missingReserve: 0n, exists: true },
  })
  node.habits = { behind: 3 }
  expect(await newChain().funding.read(ADDRESS, { asOf: 10n })).toMatchObject({ kind: 'unknown' })
  expect(await newChain().funding.read(ADDRESS, { asOf: 7n })).toMatchObject({ kind: 'ok' })
})
