import { API_KEY } from '../support/service.ts'
import { checkEvents } from './events.ts'
import { type History, runHistory } from './history.ts'
import { startTestBed, type TestBed, type TestBedOptions } from './test-bed.ts'

export interface CampaignOptions {
  readonly seeds: readonly number[]
  readonly steps: number
  /** The service is a process of its own and dies by SIGKILL now and then. */
  readonly kills: boolean
  readonly startTestChain: TestBedOptions['startTestChain']
  /** Told of each history as it ends. Answering `false` ends the campaign. */
  readonly onHistory: (history: History) => boolean
}

/** Runs histories one after the other on one chain and one database; gives what only shows at the end. */
export async function runCampaign({
  seeds,
  steps,
  kills,
  startTestChain,
  onHistory,
}: CampaignOptions): Promise<string[]> {
  const testBed = await startTestBed({ killable: kills, startTestChain })
  try {
    for (const seed of seeds) {
      if (!onHistory(await runHistory(testBed, { seed, steps, kills }))) break
    }
    const unfinished = await testBed.testChain.finish(testBed)
    await testBed.stopService()
    return [...unfinished, ...(await checkEvents(testBed)), ...checkLog(testBed)]
  } finally {
    await testBed.stop()
  }
}

/** No key of ours stands in the log (I11). */
function checkLog({ logged, testChain }: TestBed): string[] {
  return [API_KEY, ...testChain.secrets]
    .filter((secret) => logged.text.includes(secret))
    .map((secret) => `the log holds a secret: ${secret.slice(0, 6)}…`)
}
