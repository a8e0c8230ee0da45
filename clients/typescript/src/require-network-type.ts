import { RelayerError } from './errors/relayer-error.ts'
import type { Schemas } from './operation-types.ts'

type Relayer = Schemas['Relayer']

/** @throws RelayerError if the relayer is on another type of network than the library of the caller */
export function requireNetworkType(relayer: Relayer, expected: Relayer['network_type']): Relayer {
  if (relayer.network_type === expected) return relayer
  const { id, network_type } = relayer
  throw new RelayerError(
    `relayerId: ${id} is on a network of type ${network_type}; choose one of type ${expected}`,
  )
}
