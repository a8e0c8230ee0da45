import type { SolanaPolicies } from '../../chains/solana/content.ts'
import { flag, int64, publicKey, type Reader } from '../../lib/fields.ts'
import type { SolanaRelayerConfig } from '../relayer.ts'
import { ALLOWED_RPC_METHODS, FAIR_SHARE, QUEUE_LIMIT, SPENDING_RULES, topUpOf } from './common.ts'
import { atLeast, atMost, NO_LIMIT, permission, subset, superset, widening } from './limit.ts'
import { amount, choice, count, listOf, type PolicyTable, plain } from './policy-table.ts'
import { ignoreSwaps, sponsoringPolicies } from './tokens.ts'

/** The most bytes and signatures that a Solana transaction can have. */
const MAX_TRANSACTION_BYTES = 1232
const MAX_SIGNATURES = 19

/** The policies of a relayer on a Solana network. */
export const SOLANA_POLICIES = {
  fairShare: FAIR_SHARE,
  maxQueueSeconds: QUEUE_LIMIT,
  sharedAccount: {
    wireName: 'shared_account',
    type: plain(flag),
    limit: permission,
    default: false,
    description:
      'True if other programs also send from the account. False stops the relayer if the chain shows transactions of the account that the records do not explain.',
  },
  minBalance: {
    wireName: 'min_balance',
    type: amount(int64),
    limit: atLeast,
    unit: 'lamports',
    default: 10_000_000n,
    description: 'The amount that stays spendable on the account after everything in flight is paid.',
  },
  warnBalance: {
    wireName: 'warn_balance',
    type: amount(int64),
    limit: NO_LIMIT,
    unit: 'lamports',
    description: 'The alert balance_low begins below this amount. If absent, no alert.',
  },
  maxFee: {
    wireName: 'max_allowed_fee_lamports',
    type: amount(int64),
    limit: atMost,
    unit: 'lamports',
    default: 1_000_000n,
    description: 'The most that one transaction may cost in fees.',
  },
  allowedPrograms: {
    wireName: 'allowed_programs',
    type: listOf(publicKey),
    limit: subset,
    description: 'The only programs that instructions may call. If absent, any program.',
  },
  allowedAccounts: {
    wireName: 'allowed_accounts',
    type: listOf(publicKey),
    limit: subset,
    description:
      'The only accounts that a transaction may name besides the relayer and the programs. If absent, any account.',
  },
  disallowedAccounts: {
    wireName: 'disallowed_accounts',
    type: listOf(publicKey),
    limit: superset,
    description: 'Accounts that a transaction must not name. Not together with allowed_accounts.',
  },
  maxSignatures: {
    wireName: 'max_signatures',
    type: count(1, MAX_SIGNATURES),
    limit: atMost,
    unit: 'signatures',
    description: "The most signatures of one transaction, including the relayer's. If absent, no limit.",
  },
  maxDataSize: {
    wireName: 'max_tx_data_size',
    type: count(1, MAX_TRANSACTION_BYTES),
    limit: atMost,
    unit: 'bytes',
    default: MAX_TRANSACTION_BYTES,
    description: 'The most bytes of one transaction.',
  },
  feePayerSpending: {
    wireName: 'fee_payer_spending',
    type: choice('own', 'always', 'never', 'token_accounts'),
    // Only `token_accounts` pays rent in transactions with other signers, and only `own` spends in its own.
    limit: widening({
      never: ['never'],
      token_accounts: ['never', 'token_accounts'],
      own: ['never', 'own'],
      always: ['never', 'token_accounts', 'own', 'always'],
    }),
    default: 'own',
    description: 'The transactions that may use the relayer as more than the payer of their fee.',
  },
  ...sponsoringPolicies('mint', publicKey),
  rules: SPENDING_RULES,
  topUp: topUpOf(int64),
  allowedRpcMethods: ALLOWED_RPC_METHODS,
} as const satisfies PolicyTable<SolanaRelayerConfig['policies']>

/** Checks rules that no single policy decides. */
export function checkSolanaPolicies(reader: Reader, policies: SolanaPolicies): void {
  if (policies.allowedAccounts !== undefined && policies.disallowedAccounts !== undefined)
    reader.problem('has both "allowed_accounts" and "disallowed_accounts"; one of the two decides')
  ignoreSwaps(reader)
}
