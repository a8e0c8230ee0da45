import { expect, test } from 'vitest'
import { startSolana, type TestSolanaNode } from '../../../simulators/solana/start-solana.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { startService } from '../../support/service.ts'
import {
  MAIN,
  RECEIVER,
  SOL,
  type SolanaScenario,
  solanaConfig,
  solanaScenarioOf,
  transfer,
} from '../../support/solana-scenario.ts'
import { until } from '../../support/until.ts'

interface Stage {
  readonly scenario: SolanaScenario
  readonly node: TestSolanaNode
  /** Counts what the node is asked. */
  readonly gate: FaultyNode
}

/** A service that asks only one node, whose ledger can lose blocks. */
async function withNode(story: (stage: Stage) => Promise<void>): Promise<void> {
  const solana = await startSolana({ slotMs: 'manual' })
  solana.airdrop(MAIN, 10n * SOL)
  solana.airdrop(RECEIVER, SOL)
  const node = solana.node()
  const gate = await startFaultyNode(node.url)
  const service = await startService(solanaConfig(solana, { urls: [gate.url] }))
  const scenario = solanaScenarioOf(solana, service)
  try {
    await story({ scenario, node, gate })
  } finally {
    await scenario.stop()
    await gate.stop()
  }
}

/** Until the service has looked at the chain so often again. */
async function looks({ gate, scenario }: Stage, method: string, more: number): Promise<void> {
  const asked = () => gate.calls.get(method) ?? 0
  const before = asked()
  const look = () => {
    scenario.solana.tick()
    return Promise.resolve(asked())
  }
  await until(look, (count) => count >= before + more)
}

test(
  'what was included in blocks that its node has lost is neither expired nor signed again',
  () =>
    withNode(async (stage) => {
      const { scenario, node } = stage
      const { solana } = scenario
      const { id } = await scenario.send(transfer(17n))
      const { hash } = await scenario.reach(id, 'submitted')
      // The service sees nothing of all this.
      solana.tick(30)
      node.jump(30)
      solana.tick(400)
      expect(solana.included(String(hash))).toBeDefined()
      await looks(stage, 'getBlocks', 1)
      await looks(stage, 'getSignatureStatuses', 3)
      expect(await scenario.get(id)).toMatchObject({ status: 'submitted', hash })
      expect((await scenario.get(id)).attempts).toHaveLength(1)
      node.restore()
      expect(await scenario.tickUntil(id, 'confirmed')).toMatchObject({ hash })
      expect(solana.account(RECEIVER)?.lamports).toBe(SOL + 17n)
    }),
  60_000,
)

test(
  'what leaders have forgotten is offered again, the same bytes',
  () =>
    withNode(async ({ scenario }) => {
      const { solana } = scenario
      solana.market.capacity = 0
      const { id } = await scenario.send(transfer(19n))
      const { hash } = await scenario.reach(id, 'submitted')
      solana.tick(3)
      expect(solana.pending()).toEqual([])
      solana.market.capacity = 10
      const confirmed = await scenario.tickUntil(id, 'confirmed')
      expect(confirmed.hash).toBe(hash)
      expect(confirmed.attempts).toHaveLength(1)
    }),
  60_000,
)
