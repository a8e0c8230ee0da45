import type { Ledger } from './ledger.ts'
import type { Weather } from './weather.ts'
import type { World } from './world.ts'

/** One history under way. */
export interface Stage {
  readonly world: World
  readonly ledger: Ledger
  setWeather(weather: Weather): void
}

/** Where the API keeps the transactions of an account. */
export function pathOf({ site }: World, account: number): string {
  return `/relayers/${site.relayers[account]}/transactions`
}

/** The accepted transaction that a step means: so many before the newest, or the oldest. */
export function targetOf({ ledger }: Stage, target: number): { id: string; account: number } | undefined {
  const ids = ledger.ids()
  return ids.at(-1 - Math.min(target, ids.length - 1))
}
