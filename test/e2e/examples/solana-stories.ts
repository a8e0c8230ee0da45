import { startSolana } from '../../../simulators/solana/start-solana.ts'
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
import type { Heard } from './heard.ts'

/** Lets a service with one Solana node say what the examples of Solana let it say. */
export async function playOnSolana(heard: Heard): Promise<void> {
  const solana = await startSolana({ slotMs: 'manual' })
  solana.airdrop(MAIN, 10n * SOL)
  solana.airdrop(RECEIVER, SOL)
  const node = solana.node()
  const service = await startService(solanaConfig(solana, { urls: [node.url] }))
  const scenario = solanaScenarioOf(solana, heard.listen(service))
  try {
    await replaceInFlight(scenario)
    const { id } = await scenario.send(transfer(17n))
    await scenario.reach(id, 'submitted')
    // A block includes it, and the node restarts from a snapshot that is newer than the block.
    solana.tick(30)
    node.jump(30)
    solana.tick(400)
    await until(
      () => {
        solana.tick()
        return scenario.service.api<unknown[]>('GET', '/events?type=transaction_undecided')
      },
      ({ body }) => body.data.length > 0,
    )
  } finally {
    await service.stop()
    await solana.stop()
  }
}

/** The replacement waits until the first version has expired, which here a block includes before. */
async function replaceInFlight(scenario: SolanaScenario): Promise<void> {
  const { id } = await scenario.send(transfer(1_000_000n))
  await scenario.reach(id, 'submitted')
  await scenario.replace(id, transfer(2_000_000n))
  await scenario.tickUntil(id, 'confirmed')
}
