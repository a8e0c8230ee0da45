import { isDeepStrictEqual } from 'node:util'
import type { Principal } from '../access/principal.ts'
import { AppError } from '../errors.ts'
import type { RelayerConfig } from '../relayers/relayer.ts'

/**
 * Refuses endpoints from a key that may not choose them for a whole network: they answer whether a payment was made, and what it cost. To end
 * custom_rpc_urls needs no further right.
 * @throws AppError `insufficient_scope`
 */
export function requireEndpointRights(
  { id, may, rules }: Principal,
  wanted: RelayerConfig,
  present?: RelayerConfig,
): void {
  const { customRpcUrls } = wanted
  if (customRpcUrls === undefined || isDeepStrictEqual(customRpcUrls, present?.customRpcUrls)) return
  if (!may('networks:admin'))
    throw new AppError(
      'insufficient_scope',
      `custom_rpc_urls: API key ${id} lacks networks:admin; a key that chooses the endpoints of a relayer needs it.`,
    )
  if (rules !== undefined)
    throw new AppError(
      'insufficient_scope',
      `custom_rpc_urls: API key ${id} is limited by rules, and endpoints tell what was spent; use a key without rules.`,
    )
}

/**
 * Refuses a top_up from a key that may not spend the money of the treasury as it likes: the relayer that is filled would pass the money on.
 * The scope relayers:admin cannot be limited to relayers. To end a top_up needs no further right.
 * @throws AppError `insufficient_scope`
 */
export function requireTopUpRights(
  { id, may, rules }: Principal,
  wanted: RelayerConfig,
  present?: RelayerConfig,
): void {
  const { topUp } = wanted.policies
  if (topUp === undefined || isDeepStrictEqual(topUp, present?.policies.topUp)) return
  const missing = (['relayers:admin', 'transactions:write'] as const).filter((scope) => !may(scope))
  if (missing.length > 0)
    throw new AppError(
      'insufficient_scope',
      `policies.top_up: API key ${id} lacks ${missing.join(' and ')}; a key that lets a relayer spend the money of another one needs both.`,
    )
  if (rules !== undefined)
    throw new AppError(
      'insufficient_scope',
      `policies.top_up: API key ${id} is limited by rules, which would not limit a top_up; use a key without rules.`,
    )
}
