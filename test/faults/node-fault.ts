import type { Conditions } from './conditions.ts'
import type { HistoryRun } from './history-run.ts'

/** What happens to the service and to its nodes, on every chain. */
export type NodeFault =
  | { readonly is: 'conditions'; readonly conditions: Conditions }
  | { readonly is: 'time'; readonly ms: number }
  | { readonly is: 'restart' }
  | { readonly is: 'kill' }

/** How often the process dies where it can be killed, as a weight beside those of the other events. */
export const KILL_WEIGHT = 6

/** Lets it happen. */
export async function nodeFault({ testBed, setConditions }: HistoryRun, event: NodeFault): Promise<void> {
  switch (event.is) {
    case 'conditions':
      return setConditions(event.conditions)
    case 'time':
      return testBed.advance(event.ms)
    case 'restart':
      return testBed.restart('stop')
    case 'kill':
      return testBed.restart('kill')
  }
}
