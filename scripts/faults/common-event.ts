import type { Random } from '../../test/support/random.ts'
import { cancel } from './call.ts'
import type { Conditions } from './conditions.ts'
import type { HistoryRun } from './history-run.ts'
import { type Action, describeEvent } from './step.ts'

/** What happens to the service and to its nodes, on every chain. */
export type NodeFault =
  | { readonly is: 'conditions'; readonly conditions: Conditions }
  | { readonly is: 'time'; readonly ms: number }
  /** The service's time of day is so far ahead of everyone else's, until the next such event. */
  | { readonly is: 'clock'; readonly aheadMs: number }
  | { readonly is: 'restart' }
  | { readonly is: 'kill' }
  /** The server of the database is killed, and its standby takes over. */
  | { readonly is: 'fail_over' }

/** What can end under a history. */
export interface Troubles {
  /** Processes of the service die now and then. */
  readonly kills: boolean
  /** The database has a standby, and fails over. */
  readonly failovers: boolean
}

/** How often a process dies where it can be killed, as a weight beside those of the other events. */
const KILL_WEIGHT = 6

/** How often the database fails over where it has a standby: once in most histories, because the next standby comes after a history. */
const FAIL_OVER_WEIGHT = 6

/** Returns the weights of these troubles beside those of the other events. */
export function troubleWeights({ kills, failovers }: Troubles): Record<'kill' | 'fail_over', number> {
  return { kill: kills ? KILL_WEIGHT : 0, fail_over: failovers ? FAIL_OVER_WEIGHT : 0 }
}

/** The leads of a wrong clock, in ms: mostly none again, else a little or an hour, in both directions. */
const LEADS = [0, 0, 20_000, -20_000, 3_600_000, -3_600_000] as const

/** Draws the next lead of the clock. */
export function drawClock(random: Random): Extract<NodeFault, { is: 'clock' }> {
  return { is: 'clock', aheadMs: random.pick(LEADS) }
}

/** Lets it happen. */
async function nodeFault({ testBed, setConditions }: HistoryRun, event: NodeFault): Promise<void> {
  switch (event.is) {
    case 'conditions':
      return setConditions(event.conditions)
    case 'time':
      return testBed.advance(event.ms)
    case 'clock':
      return testBed.setClock(event.aheadMs)
    case 'restart':
      return testBed.restart('stop')
    case 'kill':
      return testBed.restart('kill')
    case 'fail_over':
      return testBed.failOver()
  }
}

/** What can happen on every chain alike. Targets are counted back from the newest transaction. */
export type CommonEvent = { readonly is: 'cancel'; readonly target: number } | NodeFault

const COMMON: readonly string[] = [
  'cancel',
  'conditions',
  'time',
  'clock',
  'restart',
  'kill',
  'fail_over',
] satisfies CommonEvent['is'][]

/** Events that are calls of the API, on whatever chain. */
const CALLS: readonly string[] = ['send', 'bump', 'cosign', 'replace', 'cancel']

/** Makes a action of an event; `happen` lets those happen that only this chain has. */
export function actionOf<Own extends { readonly is: string }>(
  event: Own | CommonEvent,
  happen: (run: HistoryRun, event: Own) => Promise<void>,
): Action {
  return {
    words: describeEvent(event),
    isCall: CALLS.includes(event.is),
    happen: (run) => (isCommon(event) ? commonEvent(run, event) : happen(run, event)),
  }
}

function isCommon(event: { readonly is: string }): event is CommonEvent {
  return COMMON.includes(event.is)
}

function commonEvent(run: HistoryRun, event: CommonEvent): Promise<void> {
  return event.is === 'cancel' ? cancel(run, event.target) : nodeFault(run, event)
}
