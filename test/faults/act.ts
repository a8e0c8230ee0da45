import { cancel, replace, send } from './call.ts'
import { chainEvent } from './chain-event.ts'
import { type Event, isCall, type Step } from './plan.ts'
import type { Stage } from './stage.ts'

/** Lets one step happen. Gives what is still under way, where the step does not wait for its answer. */
export async function act(stage: Stage, { event, awaited }: Step): Promise<Promise<void>[]> {
  const done = happen(stage, event)
  if (isCall(event) && !awaited) return [done]
  await done
  return []
}

async function happen(stage: Stage, event: Event): Promise<void> {
  const { world } = stage
  switch (event.is) {
    case 'send':
      return send(stage, event)
    case 'replace':
      return replace(stage, event)
    case 'cancel':
      return cancel(stage, event)
    case 'weather':
      return stage.setWeather(event.weather)
    case 'time':
      return world.advance(event.ms)
    case 'restart':
      return world.restart('stop')
    case 'kill':
      return world.restart('kill')
    default:
      return chainEvent(stage, event)
  }
}
