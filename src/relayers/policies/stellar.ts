import { type FieldType, flag, int64, type Reader } from '../../lib/fields.ts'
import type { StellarRelayerConfig } from '../relayer.ts'
import { ALLOWED_RPC_METHODS, FAIR_SHARE, QUEUE_LIMIT, SPENDING_RULES, topUpOf } from './common.ts'
import { atLeast, atMost, NO_LIMIT, permission } from './limit.ts'
import { amount, count, type PolicyTable, plain } from './policy-table.ts'
import { contract, ignoreSwaps, percentage, sponsoringPolicies } from './tokens.ts'

/** A signed version that waits for more than a day is a mistake of the configuration. */
const MAX_TIMEOUT_SECONDS = 86_400

/** A token: lumens, an asset of an issuer, or a contract. Empty and `XLM` are lumens in existing files. */
const asset: FieldType<string> = {
  expected: '"native", "CODE:ISSUER" or the address of a contract',
  read: (value) => {
    if (value === '' || value === 'XLM') return 'native'
    return typeof value === 'string' && /^(native|[A-Za-z0-9]{1,12}:G[A-Z2-7]{55}|C[A-Z2-7]{55})$/.test(value)
      ? value
      : undefined
  },
  blank: 'native',
}

/** The policies of a relayer on a Stellar network. */
export const STELLAR_POLICIES = {
  fairShare: FAIR_SHARE,
  maxQueueSeconds: QUEUE_LIMIT,
  sharedAccount: {
    wireName: 'shared_account',
    type: plain(flag),
    limit: permission,
    default: false,
    description:
      'True if other programs also send from the account. False stops the relayer if the chain shows sequence numbers that the records do not explain.',
  },
  minBalance: {
    wireName: 'min_balance',
    type: amount(int64),
    limit: atLeast,
    unit: 'stroops',
    default: 1_000_000n,
    description: 'The amount that stays spendable on the account after everything in flight is paid.',
  },
  warnBalance: {
    wireName: 'warn_balance',
    type: amount(int64),
    limit: NO_LIMIT,
    unit: 'stroops',
    description: 'The alert balance_low begins below this amount. If absent, no alert.',
  },
  maxFee: {
    wireName: 'max_fee',
    type: amount(int64),
    limit: atMost,
    unit: 'stroops',
    default: 1_000_000n,
    description: 'The most that one transaction may cost, regardless of its request.',
  },
  timeoutSeconds: {
    wireName: 'timeout_seconds',
    type: count(1, MAX_TIMEOUT_SECONDS),
    limit: NO_LIMIT,
    unit: 'seconds',
    default: 120,
    description: 'The lifetime of a signed version. Then the service signs it again.',
  },
  ...sponsoringPolicies('asset', asset),
  slippagePercentage: {
    wireName: 'slippage_percentage',
    type: plain(percentage(100)),
    limit: NO_LIMIT,
    default: 1,
    description: 'The surcharge for the conversion into a token.',
  },
  feeForwarder: {
    wireName: 'fee_forwarder',
    type: plain(contract),
    limit: NO_LIMIT,
    description: 'The contract through which calls of smart contracts pay. If absent, none is sponsored.',
  },
  rules: SPENDING_RULES,
  topUp: topUpOf(int64),
  allowedRpcMethods: ALLOWED_RPC_METHODS,
} as const satisfies PolicyTable<StellarRelayerConfig['policies']>

/**
 * Accepts fields of existing files that have no effect: the channels decide about concurrency, and the plugin
 * `swap` has a configuration of its own.
 */
export function checkStellarPolicies(reader: Reader): void {
  reader.find('concurrent_transactions', flag)
  ignoreSwaps(reader)
}
