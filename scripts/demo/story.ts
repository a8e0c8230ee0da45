import type { Schemas } from '../../src/contract/operations.ts'
import { tellTheEvmStory } from './evm-story.ts'
import { must, say } from './say.ts'
import { tellTheSolanaStory } from './solana-story.ts'
import type { Stage } from './stage.ts'
import { tellTheStellarStory } from './stellar-story.ts'
import type { Data } from './transactions.ts'

/** The main job, on each kind of network. Every claim is checked, and the demo fails when one does not hold. */
export async function tellTheStory(stage: Stage): Promise<void> {
  const relayers = await listRelayers(stage)
  await listNotifications(stage)
  await tellTheEvmStory(stage, relayerOf(relayers, 'evm'))
  await tellTheStellarStory(stage, relayerOf(relayers, 'stellar'))
  await tellTheSolanaStory(stage, relayerOf(relayers, 'solana'))
}

async function listRelayers(stage: Stage): Promise<readonly Schemas['Relayer'][]> {
  say.step('List the relayers: GET /api/v1/relayers')
  const { data } = await stage.api<Data<Schemas['Relayer'][]>>('GET', '/relayers')
  for (const { id, network, address } of data) say.fact(id, `${address} on ${network}`)
  return data
}

function relayerOf(
  relayers: readonly Schemas['Relayer'][],
  type: Schemas['NetworkType'],
): Schemas['Relayer'] {
  const found = relayers.find(({ network_type }) => network_type === type)
  must(found !== undefined, `no relayer of type ${type} is configured`)
  return found
}

async function listNotifications(stage: Stage): Promise<void> {
  say.step('List the notifications: GET /api/v1/notifications')
  const { data } = await stage.api<Data<Schemas['Notification'][]>>('GET', '/notifications')
  for (const { id, url } of data) say.fact(id, url)
}
