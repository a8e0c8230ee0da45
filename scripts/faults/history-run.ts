import type { Conditions } from './conditions.ts'
import type { Ledger } from './ledger.ts'
import type { TestBed } from './test-bed.ts'

/** One history under way. */
export interface HistoryRun {
  readonly testBed: TestBed
  readonly ledger: Ledger
  setConditions(conditions: Conditions): void
}

/** Where the API keeps the transactions of an account. */
export function pathOf({ testChain }: TestBed, account: number): string {
  return `/relayers/${testChain.relayers[account]}/transactions`
}

/** The accepted transaction that a step means: so many before the newest, or the oldest. */
export function targetOf(
  { ledger }: HistoryRun,
  target: number,
): { id: string; account: number } | undefined {
  const ids = ledger.ids()
  return ids.at(-1 - Math.min(target, ids.length - 1))
}
