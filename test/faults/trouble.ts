import type { Stage } from './stage.ts'
import type { Weather } from './weather.ts'

/** What happens to the service and to its nodes, on every chain. */
export type NodeFault =
  | { readonly is: 'weather'; readonly weather: Weather }
  | { readonly is: 'time'; readonly ms: number }
  | { readonly is: 'restart' }
  | { readonly is: 'kill' }

/** How often the process dies where it can be killed, as a weight beside those of the other events. */
export const KILL_WEIGHT = 6

/** Lets it happen. */
export async function nodeFault({ world, setWeather }: Stage, event: NodeFault): Promise<void> {
  switch (event.is) {
    case 'weather':
      return setWeather(event.weather)
    case 'time':
      return world.advance(event.ms)
    case 'restart':
      return world.restart('stop')
    case 'kill':
      return world.restart('kill')
  }
}
