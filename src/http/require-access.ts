import type { Principal } from '../access/principal.ts'
import { seesEverything, seesNetwork, seesRelayerId, type Visibility } from '../access/visibility.ts'
import type { ContractOperation } from '../contract/document.ts'
import { AppError } from '../errors.ts'

/**
 * Refuses an operation whose scope the key lacks.
 * @throws AppError `insufficient_scope`
 */
export function requireScope({ scope }: ContractOperation, principal: Principal): void {
  if (scope === undefined || principal.may(scope)) return
  throw new AppError('insufficient_scope', `API key ${principal.id} lacks the scope ${scope}.`)
}

/** Returns the network of a relayer by type and name; undefined when there is no such relayer. */
export type NetworkOfRelayer = (relayerId: string) => Promise<string | undefined>

/**
 * Hides the relayer of the path from a key that does not see it: the answer is the same as for one that does not exist. Undefined when nothing
 * has to be read for it, which spares most requests a wait.
 * @throws AppError `relayer_not_found`
 */
export function requireVisible(
  { visibility }: Principal,
  relayerId: string | undefined,
  networkOf: NetworkOfRelayer,
): Promise<void> | undefined {
  if (relayerId === undefined || seesEverything(visibility)) return undefined
  if (!seesRelayerId(visibility, relayerId)) throw hidden(relayerId)
  return visibility.networks && requireSeenNetwork(visibility, relayerId, networkOf)
}

async function requireSeenNetwork(
  visibility: Visibility,
  relayerId: string,
  networkOf: NetworkOfRelayer,
): Promise<void> {
  const network = await networkOf(relayerId)
  if (network === undefined || !seesNetwork(visibility, network)) throw hidden(relayerId)
}

function hidden(relayerId: string): AppError {
  return new AppError('relayer_not_found', `There is no relayer ${relayerId}.`)
}
