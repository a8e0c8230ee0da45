import { startEvmTestChain } from '../evm/test-chain.ts'
import type { StorageKind } from '../storage.ts'
import { startTestBed } from '../test-bed.ts'
import { runScheduleHistory, type ScheduleHistory } from './history.ts'

/** Histories of schedules on one chain and one PostgreSQL. */
export interface ScheduleCampaign {
  readonly seeds: readonly number[]
  readonly steps: number
  /** Processes of the service are killed now and then. */
  readonly kills: boolean
  readonly processes: number
  /** A replicated database fails over now and then. */
  readonly storage: Exclude<StorageKind, 'embedded'>
  /** Told of each history as it ends. Answering `false` ends the campaign. */
  readonly onHistory: (history: ScheduleHistory) => boolean
}

/** Runs the histories one after the other. */
export async function runSchedules({
  seeds,
  steps,
  kills,
  processes,
  storage,
  onHistory,
}: ScheduleCampaign): Promise<void> {
  const testBed = await startTestBed({
    killable: kills,
    processes,
    storage,
    startTestChain: () => startEvmTestChain({ endpoints: 1 }),
  })
  const troubles = { kills, failovers: storage === 'replicated' }
  const database = await testBed.storage.open()
  try {
    for (const seed of seeds)
      if (!onHistory(await runScheduleHistory({ testBed, db: database.db }, { seed, steps, troubles }))) break
  } finally {
    await database.close()
    await testBed.stop()
  }
}
