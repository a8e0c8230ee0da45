import type { PriceModel } from './config.ts'
import type { Sponsor } from './sponsor.ts'

/** The fee limit of a relayer without `max_allowed_fee_lamports`. */
const DEFAULT_MAX_FEE = 1_000_000

/** Signatures fit into a transaction at most this often. */
const MAX_SIGNATURES = 12

/**
 * Kora's switches for what a fee payer may do. The relayer may do nothing of it: it appears in no
 * instruction.
 */
const TOKEN_SWITCHES = [
  'allow_approve',
  'allow_burn',
  'allow_close_account',
  'allow_freeze_account',
  'allow_initialize_account',
  'allow_initialize_mint',
  'allow_initialize_multisig',
  'allow_mint_to',
  'allow_revoke',
  'allow_set_authority',
  'allow_thaw_account',
  'allow_transfer',
]
const SYSTEM_SWITCHES = ['allow_allocate', 'allow_assign', 'allow_create_account', 'allow_transfer']
const NONCE_SWITCHES = ['allow_advance', 'allow_authorize', 'allow_initialize', 'allow_withdraw']

function none(names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, false]))
}

/** Describes the relayer's policies in the words of Kora's `validation_config`. */
export function describePolicies({ policies, settings }: Sponsor, mints: readonly string[]): object {
  const { allowed_programs, disallowed_accounts, max_signatures, max_allowed_fee_lamports } = policies
  return {
    max_allowed_lamports: Number(max_allowed_fee_lamports ?? DEFAULT_MAX_FEE),
    max_signatures: max_signatures ?? MAX_SIGNATURES,
    allowed_programs: allowed_programs ?? [],
    allowed_tokens: mints,
    allowed_spl_paid_tokens: mints,
    disallowed_accounts: disallowed_accounts ?? [],
    price_source: 'Relayer',
    price: describePrice(settings.price, policies),
    require_one_of_programs: settings.rules.requiredPrograms,
    allow_durable_transactions: false,
    fee_payer_policy: {
      system: {
        ...none(SYSTEM_SWITCHES),
        // By the associated token program alone, and with the rent in the price.
        allow_create_account: settings.opensAccounts,
        nonce: none(NONCE_SWITCHES),
      },
      spl_token: none(TOKEN_SWITCHES),
      token_2022: none(TOKEN_SWITCHES),
    },
    token2022: {
      blocked_mint_extensions: ['transfer_fee_config', 'transfer_hook', 'permanent_delegate', 'pausable'],
      blocked_account_extensions: [],
    },
  }
}

function describePrice(price: PriceModel, policies: Sponsor['policies']): object {
  if (price.type === 'free') return { type: 'free' }
  if (price.type === 'margin')
    return { type: 'margin', margin: Number(policies.fee_margin_percentage ?? 0) / 100 }
  const { token, amount, isStrict: strict } = price
  return { type: 'fixed', amount: Number(amount), token, strict }
}
