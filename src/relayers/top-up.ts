import { isFurtherAccount } from './accounts/pool.ts'
import type { RelayerConfig } from './relayer.ts'

/**
 * Returns what is wrong with the treasury of this relayer, as a sentence; undefined if nothing is. `relayers`
 * has every relayer, this one included. A circle of relayers that fill each other would only pay fees.
 */
export function topUpProblem(relayer: RelayerConfig, relayers: readonly RelayerConfig[]): string | undefined {
  const { topUp } = relayer.policies
  if (topUp === undefined) return undefined
  const { from } = topUp
  // The reader of the document has reported a missing id.
  if (from === '') return undefined
  // A relayer with several accounts can refill the further ones from the first.
  if (from === relayer.id && relayer.accounts !== undefined) return undefined
  if (from === relayer.id) return `relayer "${relayer.id}" cannot refill itself; name another one in from`
  const byId = new Map(relayers.map((one) => [one.id, one]))
  const treasury = byId.get(from)
  if (treasury === undefined) return `there is no relayer "${from}", which from names`
  if (treasury.networkType !== relayer.networkType || treasury.network !== relayer.network)
    return `relayer "${from}" is on another network (${networkName(treasury)}) than "${relayer.id}" (${networkName(relayer)})`
  const circle = circleFrom(relayer, byId)
  if (circle === undefined) return undefined
  return `these relayers would refill each other in a circle: ${circle.join(' from ')}; one of them must have no top_up`
}

/** Returns the problems of all relayers, each with the relayer that has it. */
export function topUpProblems(relayers: readonly RelayerConfig[]): string[] {
  return relayers
    .filter((relayer) => !isFurtherAccount(relayer))
    .flatMap((relayer) => {
      const problem = topUpProblem(relayer, relayers)
      return problem === undefined ? [] : [`relayer "${relayer.id}" has an impossible top_up: ${problem}`]
    })
}

/**
 * Returns the relayers of the circle that this one is part of, itself first and last; undefined if it is part
 * of none.
 */
function circleFrom(relayer: RelayerConfig, byId: ReadonlyMap<string, RelayerConfig>): string[] | undefined {
  const path = [relayer.id]
  let next = relayer.policies.topUp?.from
  while (next !== undefined && next !== path.at(-1) && !path.includes(next)) {
    path.push(next)
    next = byId.get(next)?.policies.topUp?.from
  }
  return next === relayer.id ? [...path, next] : undefined
}

function networkName({ networkType, network }: RelayerConfig): string {
  return `${networkType}:${network}`
}
