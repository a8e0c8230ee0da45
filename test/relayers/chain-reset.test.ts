import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts'
import type { Database } from '../../src/database/db.ts'
import { systemClock } from '../../src/lib/time.ts'
import { createLogger } from '../../src/log.ts'
import { findGenesis } from '../../src/networks/chain-identity-store.ts'
import { createChainResetDetector } from '../../src/relayers/chain-reset.ts'
import { startAnvil } from '../support/anvil.ts'
import { openTestDatabase } from '../support/database.ts'
import { SILENT_NETWORK } from '../transactions/stub-chain.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())

/** Looks at a network whose endpoint serves the chain with this id, and returns the first block that is remembered for it afterwards. */
async function rememberedAfterLookAt(served: string): Promise<string | undefined> {
  const anvil = await startAnvil({ args: ['--chain-id', served] })
  onTestFinished(() => anvil.stop())
  const network = { ...SILENT_NETWORK, chainId: 31_337, rpcUrls: [{ url: anvil.url, weight: 100 }] }
  const log = createLogger({ level: 'silent' })
  const chain = createEvmChain({ network, rpcTimeoutMs: 5_000, clock: systemClock, log })
  const detector = createChainResetDetector({
    db: database.db,
    clock: systemClock,
    networks: { find: () => network },
  })
  expect(await detector.find(chain, network)).toBe(undefined)
  return findGenesis(database.db, network)
}

test('the first block of another chain is never remembered', async () => {
  expect(await rememberedAfterLookAt('31338')).toBe(undefined)
  expect(await rememberedAfterLookAt('31337')).toMatch(/^0x[0-9a-f]{64}$/)
})
