import { API_KEY } from '../support/service.ts'
import { checkEvents } from './events.ts'
import { type History, runHistory } from './history.ts'
import { startWorld, type World, type WorldOptions } from './world.ts'

export interface CampaignOptions {
  readonly seeds: readonly number[]
  readonly steps: number
  /** The service is a process of its own and dies by SIGKILL now and then. */
  readonly kills: boolean
  readonly startSite: WorldOptions['startSite']
  /** Told of each history as it ends. Answering `false` ends the campaign. */
  readonly onHistory: (history: History) => boolean
}

/** Runs histories one after the other on one chain and one database; gives what only shows at the end. */
export async function runCampaign({
  seeds,
  steps,
  kills,
  startSite,
  onHistory,
}: CampaignOptions): Promise<string[]> {
  const world = await startWorld({ killable: kills, startSite })
  try {
    for (const seed of seeds) {
      if (!onHistory(await runHistory(world, { seed, steps, kills }))) break
    }
    const unfinished = await world.site.finish(world)
    await world.stopService()
    return [...unfinished, ...(await checkEvents(world.dataDir)), ...checkLog(world)]
  } finally {
    await world.stop()
  }
}

/** No key of ours stands in the log (I11). */
function checkLog({ logged, site }: World): string[] {
  return [API_KEY, ...site.secrets]
    .filter((secret) => logged.text.includes(secret))
    .map((secret) => `the log holds a secret: ${secret.slice(0, 6)}…`)
}
