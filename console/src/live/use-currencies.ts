import type { Schemas } from '../../../clients/typescript/src/index.ts'
import type { Currency } from '../format/amounts.ts'
import { useWorkplace } from '../session/session-context.ts'
import { useLoad } from './use-load.ts'
import { UNKNOWN_YET, useNetworks } from './use-networks.ts'

type Transaction = Schemas['Transaction']

/** Gives the native currency of a transaction. */
export type CurrencyOf = (transaction: Pick<Transaction, 'relayer_id' | 'network_type'>) => Currency

/**
 * Gives the native currency of transactions of any relayer. A transaction does not tell its network, so the relayers are asked; where the key
 * may not read them, the currency is that of the type of network.
 */
export function useCurrencies(): CurrencyOf {
  const { client, may } = useWorkplace().session
  const networks = useNetworks()
  const { value, isLoading } = useLoad(
    async (signal) => {
      if (!may('relayers:read')) return NONE
      const relayers = await Array.fromAsync(client.relayers.list({ per_page: 100, signal }))
      return new Map(relayers.map(({ id, network }) => [id, network]))
    },
    ['networks of relayers'],
  )
  return ({ relayer_id, network_type }) => {
    const currency = networks.currencyOf({ network: value?.get(relayer_id) ?? '', network_type })
    return value === undefined && isLoading ? { ...currency, symbol: UNKNOWN_YET } : currency
  }
}

const NONE: ReadonlyMap<string, string> = new Map()
