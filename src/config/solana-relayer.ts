import type { SolanaPolicies } from '../chains/solana/content.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'
import { int64, oneOf, publicKey, whole } from './fields/field-types.ts'
import type { Reader } from './fields/reader.ts'
import { readRpcMethods } from './fields/rpc-methods.ts'
import type { SolanaRelayerConfig } from './types.ts'

/** The most bytes and signatures that a Solana transaction can have. */
const MAX_TRANSACTION_BYTES = 1232
const MAX_SIGNATURES = 19

/** What only relayers that pay in tokens need. */
const TOKEN_FIELDS = ['allowed_tokens', 'swap_config', 'fee_margin_percentage']

/** What only relayers on a Solana network have. */
export function readSolanaRelayer(
  reader: Reader,
  shared: Omit<SolanaRelayerConfig, 'networkType' | 'policies'>,
): SolanaRelayerConfig {
  return { ...shared, networkType: 'solana', policies: readPolicies(reader) }
}

function readPolicies(relayer: Reader): SolanaPolicies {
  const reader = relayer.object('policies')
  if (!reader) return {}
  const policies = omitUndefined({
    minBalance: reader.find('min_balance', int64),
    maxFee: reader.find('max_allowed_fee_lamports', int64),
    allowedPrograms: readKeys(reader, 'allowed_programs'),
    allowedAccounts: readKeys(reader, 'allowed_accounts'),
    disallowedAccounts: readKeys(reader, 'disallowed_accounts'),
    maxSignatures: reader.find('max_signatures', whole(1, MAX_SIGNATURES)),
    maxDataSize: reader.find('max_tx_data_size', whole(1, MAX_TRANSACTION_BYTES)),
    feePayerSpending: reader.find('fee_payer_spending', oneOf('own', 'always', 'never')),
    allowedRpcMethods: readRpcMethods(reader),
  })
  if (policies.allowedAccounts !== undefined && policies.disallowedAccounts !== undefined)
    reader.problem('has both "allowed_accounts" and "disallowed_accounts"; one of the two decides')
  // The relayer pays the fees, in SOL.
  reader.find('fee_payment_strategy', oneOf('relayer'))
  for (const field of TOKEN_FIELDS) {
    if (reader.raw(field) !== undefined)
      reader.problem(`has "${field}", but fees that others pay in tokens are not supported`)
  }
  reader.finish()
  return policies
}

/** An empty list is kept apart from none: it allows nothing. */
function readKeys(reader: Reader, field: string): readonly string[] | undefined {
  return reader.raw(field) === undefined ? undefined : reader.list(field, publicKey)
}
