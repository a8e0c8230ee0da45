import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../../test/support/random.ts'
import type { FrontChain } from './front-chain.ts'
import type { KillableService } from './killable-service.ts'
import { untilPluginsAreReady } from './rest.ts'

/** A chain and a service on which a history is played. */
export interface Stage {
  readonly chain: Pick<FrontChain, 'node' | 'blockMs' | 'makeBlock' | 'stop'>
  readonly service: KillableService
  readonly random: Random
  /** The requests under way. */
  readonly work: Promise<unknown>[]
  /** No blocks are made. */
  stands: boolean
}

interface Play<Played extends Stage, Verdict> {
  /** The steps of the history, in their order. */
  readonly acts: readonly ((stage: Played) => Promise<void>)[]
  /** Asks everybody again, and judges. The node is well, and blocks are made. */
  readonly conclude: (stage: Played) => Promise<Verdict>
}

/** Plays a history, and ends its chain and its service. */
export async function playHistory<Played extends Stage, Verdict>(
  stage: Played,
  { acts, conclude }: Play<Played, Verdict>,
): Promise<Verdict> {
  const { chain, service, random } = stage
  const ended = new AbortController()
  const blocks = makeBlocks(stage, ended.signal)
  try {
    await untilPluginsAreReady(service)
    for (const act of acts) {
      await act(stage)
      await pause(random.int(0, 200))
    }
    await Promise.all(stage.work)
    stage.stands = false
    chain.node.fault = () => 'pass'
    chain.node.habits = undefined
    return await conclude(stage)
  } finally {
    ended.abort()
    await blocks
    await service.stop()
    await chain.stop()
  }
}

async function makeBlocks(stage: Stage, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    if (!stage.stands) await stage.chain.makeBlock()
    await pause(stage.chain.blockMs)
  }
}
