import { API_KEY, DEV_KEYS } from '../support/service.ts'
import { checkEvents } from './events.ts'
import { type History, runHistory } from './history.ts'
import { startWorld } from './world.ts'

export interface CampaignOptions {
  readonly seeds: readonly number[]
  readonly steps: number
  /** The service is a process of its own and dies by SIGKILL now and then. */
  readonly kills: boolean
  readonly endpoints: number
  /** Told of each history as it ends. Answering `false` ends the campaign. */
  readonly onHistory: (history: History) => boolean
}

/** Runs histories one after the other on one chain and one database; gives what only shows at the end. */
export async function runCampaign({
  seeds,
  steps,
  kills,
  endpoints,
  onHistory,
}: CampaignOptions): Promise<string[]> {
  const world = await startWorld({ killable: kills, endpoints })
  try {
    for (const seed of seeds) {
      if (!onHistory(await runHistory(world, { seed, steps, kills }))) break
    }
    await world.stopService()
    return [...(await checkEvents(world.dataDir)), ...checkLog(world.logged.text)]
  } finally {
    await world.stop()
  }
}

/** No key of ours stands in the log (I11). */
function checkLog(text: string): string[] {
  const secrets = [API_KEY, ...DEV_KEYS.map((key) => key.slice(2))]
  return secrets
    .filter((secret) => text.includes(secret))
    .map((secret) => `the log holds a secret: ${secret.slice(0, 6)}…`)
}
