import { cancel } from './call.ts'
import type { HistoryRun } from './history-run.ts'
import { type NodeFault, nodeFault } from './node-fault.ts'
import { type Action, describeEvent } from './step.ts'

/** What can happen on every chain alike. Targets are counted back from the newest transaction. */
export type CommonEvent = { readonly is: 'cancel'; readonly target: number } | NodeFault

const COMMON: readonly string[] = [
  'cancel',
  'conditions',
  'time',
  'clock',
  'restart',
  'kill',
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
