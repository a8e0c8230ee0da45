import type { Schemas } from '../../../clients/typescript/src/index.ts'
import { type Currency, currencyOf } from '../format/amounts.ts'
import { useWorkplace } from '../session/session-context.ts'
import { useLoad } from './use-load.ts'

type Network = Schemas['Network']
type OnNetwork = Pick<Schemas['Relayer'], 'network' | 'network_type'>

/** What pages know of networks. While a key may not read networks, the currency has no name of its own. */
export interface Networks {
  /** Those that the key may read. */
  readonly all: readonly Network[]
  readonly find: (on: OnNetwork) => Network | undefined
  readonly currencyOf: (on: OnNetwork) => Currency
}

/** Loads the networks, when the key may read them. */
export function useNetworks(): Networks {
  const { session } = useWorkplace()
  const { value, isLoading } = useLoad(
    async (signal) =>
      session.may('networks:read') ? await Array.fromAsync(session.client.networks.list({ signal })) : [],
    ['networks'],
  )
  const all = value ?? []
  const find = (on: OnNetwork) =>
    all.find(({ name, network_type }) => name === on.network && network_type === on.network_type)
  const symbol = value === undefined && isLoading ? UNKNOWN_YET : undefined
  return { all, find, currencyOf: (on) => currencyOf(on.network_type, symbol ?? find(on)?.symbol) }
}

/** Shown instead of a symbol until it is known. */
export const UNKNOWN_YET = '…'
