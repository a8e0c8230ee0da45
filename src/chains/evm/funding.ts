import type { Funding } from '../capabilities.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import type { EvmPolicies, EvmRequest } from './content.ts'
import { readBalance } from './inspect.ts'

/** Creates the payments of an EVM network. Every address exists there, and nothing is held back. */
export function createFunding(client: PooledClient): Funding<EvmRequest, EvmPolicies> {
  return {
    read: async (address, { asOf } = {}) => {
      const balance = await readBalance(client, address, asOf)
      if (balance.kind !== 'ok') return balance
      return { kind: 'ok', value: { spendable: balance.value, missingReserve: 0n, exists: true } }
    },
    pay: ({ to, amount }) => ({ type: 'evm', to, value: amount, speed: 'average' }),
  }
}
