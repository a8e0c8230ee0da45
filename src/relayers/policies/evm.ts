import type { EvmPolicies } from '../../chains/evm/content.ts'
import { address, flag, u128 } from '../../lib/fields/field-types.ts'
import type { Reader } from '../../lib/fields/reader.ts'
import type { EvmRelayerConfig } from '../relayer.ts'
import { atLeast, atMost, NO_LIMIT, permission, subset } from './limit.ts'
import type { PolicyTable } from './policy-table.ts'
import { amount, listOf, plain } from './policy-type.ts'
import { ALLOWED_RPC_METHODS } from './rpc-methods.ts'
import { SPENDING_RULES } from './spending-rules.ts'

/** The policies of a relayer on an EVM network. */
export const EVM_POLICIES = {
  eip1559Pricing: {
    wireName: 'eip1559_pricing',
    type: plain(flag),
    limit: NO_LIMIT,
    description: 'False forces legacy prices. The features of the network decide when absent.',
  },
  gasLimitEstimation: {
    wireName: 'gas_limit_estimation',
    type: plain(flag),
    limit: NO_LIMIT,
    default: true,
    description: 'False requires a gas_limit in every request.',
  },
  gasPriceCap: {
    wireName: 'gas_price_cap',
    type: amount(u128),
    limit: atMost,
    unit: 'wei',
    description: 'The most that one unit of gas may cost. No cap when absent.',
  },
  allowAuthorizationList: {
    wireName: 'allow_authorization_list',
    type: plain(flag),
    limit: permission,
    default: false,
    description: 'True allows requests with an authorization_list (EIP-7702).',
  },
  minBalance: {
    wireName: 'min_balance',
    type: amount(u128),
    limit: atLeast,
    unit: 'wei',
    default: 1n,
    description: 'The amount that stays on the account after everything in flight is paid.',
  },
  warnBalance: {
    wireName: 'warn_balance',
    type: amount(u128),
    limit: NO_LIMIT,
    unit: 'wei',
    description: 'The alert balance_low begins below this amount. No alert when absent.',
  },
  privateTransactions: {
    wireName: 'private_transactions',
    type: plain(flag),
    limit: NO_LIMIT,
    default: false,
    description: 'Reserved for networks with a private pool. There is none yet, so only false is accepted.',
  },
  whitelistReceivers: {
    wireName: 'whitelist_receivers',
    type: listOf(address),
    limit: subset,
    description: 'The only addresses that may receive, in lower case. Every address may when absent.',
  },
  walletRpc: {
    wireName: 'wallet_rpc',
    type: plain(flag),
    limit: permission,
    default: false,
    description:
      'True lets the relayer answer the methods of a wallet over JSON-RPC, such as eth_sendTransaction.',
  },
  rules: SPENDING_RULES,
  allowedRpcMethods: ALLOWED_RPC_METHODS,
} as const satisfies PolicyTable<EvmRelayerConfig['policies']>

/** Checks rules that no single policy decides, and accepts fields of existing files that have no effect. */
export function checkEvmPolicies(reader: Reader, policies: EvmPolicies): void {
  // A policy that is accepted and ignored would promise a privacy that does not exist.
  if (policies.privateTransactions)
    reader.problem('has private_transactions true, but no private pool is supported yet')
  // The service always decodes revert data.
  reader.ignore('include_revert_data')
}
