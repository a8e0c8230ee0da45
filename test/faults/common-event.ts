import { cancel } from './call.ts'
import { type Deed, wordsOf } from './deed.ts'
import type { Stage } from './stage.ts'
import { type NodeFault, nodeFault } from './trouble.ts'

/** What can happen on every chain alike. Targets are counted back from the newest transaction. */
export type CommonEvent = { readonly is: 'cancel'; readonly target: number } | NodeFault

const COMMON: readonly string[] = [
  'cancel',
  'weather',
  'time',
  'restart',
  'kill',
] satisfies CommonEvent['is'][]

/** Events that are calls of the API, on whatever chain. */
const CALLS: readonly string[] = ['send', 'bump', 'cosign', 'replace', 'cancel']

/** Makes a deed of an event; `happen` lets those happen that only this chain has. */
export function deedOf<Own extends { readonly is: string }>(
  event: Own | CommonEvent,
  happen: (stage: Stage, event: Own) => Promise<void>,
): Deed {
  return {
    words: wordsOf(event),
    isCall: CALLS.includes(event.is),
    happen: (stage) => (isCommon(event) ? commonEvent(stage, event) : happen(stage, event)),
  }
}

function isCommon(event: { readonly is: string }): event is CommonEvent {
  return COMMON.includes(event.is)
}

function commonEvent(stage: Stage, event: CommonEvent): Promise<void> {
  return event.is === 'cancel' ? cancel(stage, event.target) : nodeFault(stage, event)
}
