import type { EvmPolicies } from '../chains/evm/content.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'
import { address, flag, u128 } from './fields/field-types.ts'
import type { Reader } from './fields/reader.ts'
import { readRpcMethods } from './fields/rpc-methods.ts'

/** The `policies` of an EVM relayer. */
export function readEvmPolicies(relayer: Reader): EvmPolicies {
  const reader = relayer.object('policies')
  if (!reader) return {}
  const policies: EvmPolicies = omitUndefined({
    eip1559Pricing: reader.find('eip1559_pricing', flag),
    gasLimitEstimation: reader.find('gas_limit_estimation', flag),
    gasPriceCap: reader.find('gas_price_cap', u128),
    minBalance: reader.find('min_balance', u128),
    privateTransactions: reader.find('private_transactions', flag),
    // An empty list is kept apart from none: what it means is for the policy to say.
    whitelistReceivers:
      reader.raw('whitelist_receivers') === undefined
        ? undefined
        : reader.list('whitelist_receivers', address),
    allowedRpcMethods: readRpcMethods(reader),
  })
  // Accepted and ignored, it would promise a privacy that nobody gets.
  if (policies.privateTransactions)
    reader.problem('has private_transactions true, but no private pool is supported yet')
  // Revert data is always decoded here.
  reader.ignore('include_revert_data')
  reader.finish()
  return policies
}
