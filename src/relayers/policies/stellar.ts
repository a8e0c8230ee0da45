import { flag, int64, oneOf, type Reader } from '../../lib/fields.ts'
import type { StellarRelayerConfig } from '../relayer.ts'
import { ALLOWED_RPC_METHODS, FAIR_SHARE, QUEUE_LIMIT, SPENDING_RULES, topUpOf } from './common.ts'
import { atLeast, atMost, NO_LIMIT, permission } from './limit.ts'
import { amount, count, type PolicyTable, plain } from './policy-table.ts'

/** A signed version that waits for more than a day is a mistake of the configuration. */
const MAX_TIMEOUT_SECONDS = 86_400

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
  rules: SPENDING_RULES,
  topUp: topUpOf(int64),
  allowedRpcMethods: ALLOWED_RPC_METHODS,
} as const satisfies PolicyTable<StellarRelayerConfig['policies']>

/** Accepts fields of existing files that have no effect: the relayer pays fees, and the channels decide about concurrency. */
export function checkStellarPolicies(reader: Reader): void {
  reader.find('fee_payment_strategy', oneOf('relayer'))
  reader.find('concurrent_transactions', flag)
}
