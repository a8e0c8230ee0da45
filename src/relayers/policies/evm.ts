import { DEFAULT_FEE_LIMIT_MULTIPLIER } from '../../chains/evm/content.ts'
import { address, type FieldType, flag, type Reader, u128 } from '../../lib/fields.ts'
import type { EvmRelayerConfig } from '../relayer.ts'
import { ALLOWED_RPC_METHODS, FAIR_SHARE, QUEUE_LIMIT, SPENDING_RULES, topUpOf } from './common.ts'
import {
  atLeast,
  atLeastOrAbsent,
  atMost,
  NO_LIMIT,
  obligation,
  permission,
  subset,
  subsetOrAny,
} from './limit.ts'
import { amount, count, listOf, type PolicyTable, plain } from './policy-table.ts'

/** More blocks than this take weeks on any network; to never fall back, omit the policy. */
const MAX_FALLBACK_BLOCKS = 1_000_000

/** A higher multiple of the market is not a limit any more. */
const MAX_FEE_LIMIT_MULTIPLIER = 1_000

/** An item of the policy for typed data. A chain id is a uint256, so it has at most 78 digits. */
const chainId: FieldType<string> = {
  expected: 'a chain id in decimal digits as a text, such as "1", or "*" for every chain',
  read: (value) => (typeof value === 'string' && /^(\*|0|[1-9][0-9]{0,77})$/.test(value) ? value : undefined),
  blank: '',
}

/** The policies of a relayer on an EVM network. */
export const EVM_POLICIES = {
  eip1559Pricing: {
    wireName: 'eip1559_pricing',
    type: plain(flag),
    limit: NO_LIMIT,
    description: 'False forces legacy prices. If absent, the features of the network decide.',
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
    description: 'The most that one unit of gas may cost. If absent, no cap.',
  },
  txFeeCap: {
    wireName: 'tx_fee_cap',
    type: amount(u128),
    limit: atMost,
    unit: 'wei',
    description: 'The most that one transaction may cost in fees. If absent, the tx_fee_cap of the network.',
  },
  feeLimitMultiplier: {
    wireName: 'fee_limit_multiplier',
    type: count(1, MAX_FEE_LIMIT_MULTIPLIER),
    limit: atMost,
    default: DEFAULT_FEE_LIMIT_MULTIPLIER,
    description: 'The service never raises a fee above this many times the current market.',
  },
  allowAuthorizationList: {
    wireName: 'allow_authorization_list',
    type: plain(flag),
    limit: permission,
    default: false,
    description: 'True allows requests with an authorization_list (EIP-7702).',
  },
  fairShare: FAIR_SHARE,
  maxQueueSeconds: QUEUE_LIMIT,
  sharedAccount: {
    wireName: 'shared_account',
    type: plain(flag),
    limit: permission,
    default: false,
    description:
      'True if other programs also send from the account. False stops the relayer if the chain shows nonces that the records do not explain.',
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
    description: 'The alert balance_low begins below this amount. If absent, no alert.',
  },
  privateTransactions: {
    wireName: 'private_transactions',
    type: plain(flag),
    limit: obligation,
    default: false,
    description: 'True sends everything that is signed to the private_rpc_urls of the network only.',
  },
  privateFallbackBlocks: {
    wireName: 'private_fallback_blocks',
    type: count(1, MAX_FALLBACK_BLOCKS),
    limit: atLeastOrAbsent,
    description:
      'A private transaction that is not included after this many blocks also goes to the ordinary endpoints. If absent, never.',
  },
  whitelistReceivers: {
    wireName: 'whitelist_receivers',
    type: listOf(address),
    limit: subset,
    description: 'The only addresses that may receive, in lower case. If absent, any address.',
  },
  walletRpc: {
    wireName: 'wallet_rpc',
    type: plain(flag),
    limit: permission,
    default: false,
    description:
      'True lets the relayer answer the methods of a wallet over JSON-RPC, such as eth_sendTransaction.',
  },
  typedDataChainIds: {
    wireName: 'typed_data_chain_ids',
    type: listOf(chainId),
    limit: subsetOrAny,
    description:
      'Chain ids for which typed data is signed besides that of the network; "*" means all. If absent, none.',
  },
  rules: SPENDING_RULES,
  topUp: topUpOf(u128),
  allowedRpcMethods: ALLOWED_RPC_METHODS,
} as const satisfies PolicyTable<EvmRelayerConfig['policies']>

/** Accepts fields of existing files that have no effect. */
export function checkEvmPolicies(reader: Reader): void {
  // The service always decodes revert data.
  reader.ignore('include_revert_data')
}
