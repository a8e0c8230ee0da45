// The names that a file of Kora has. The plugin has the same ones, and the service is built without it.

/** The methods of JSON-RPC. */
export const METHODS = [
  'liveness',
  'estimateTransactionFee',
  'signTransaction',
  'signAndSendTransaction',
  'transferTransaction',
  'estimateBundleFee',
  'signBundle',
  'signAndSendBundle',
  'getBlockhash',
  'getConfig',
  'getPayerSigner',
  'getSupportedTokens',
  'getVersion',
] as const

/** The name of a method. */
export type Method = (typeof METHODS)[number]

/** The extensions of mints of Token-2022. */
export const MINT_EXTENSIONS = [
  'transfer_fee_config',
  'mint_close_authority',
  'confidential_transfer_mint',
  'default_account_state',
  'non_transferable',
  'interest_bearing_config',
  'permanent_delegate',
  'transfer_hook',
  'confidential_transfer_fee_config',
  'metadata_pointer',
  'token_metadata',
  'group_pointer',
  'token_group',
  'group_member_pointer',
  'token_group_member',
  'confidential_mint_burn',
  'scaled_ui_amount',
  'pausable',
] as const

/** The extensions of token accounts of Token-2022. */
export const ACCOUNT_EXTENSIONS = [
  'transfer_fee_amount',
  'confidential_transfer_account',
  'immutable_owner',
  'memo_transfer',
  'cpi_guard',
  'non_transferable_account',
  'transfer_hook_account',
  'confidential_transfer_fee_amount',
  'pausable_account',
] as const
