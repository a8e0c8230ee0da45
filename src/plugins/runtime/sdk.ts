/**
 * The part of `@openzeppelin/relayer-sdk`, and of the older `../lib/plugin`, that plugins use at run time.
 * The bundler puts it in their place where the package is not installed. Everything else that plugins import
 * from there is a type.
 */

/** The price levels of EVM transactions. */
export const Speed = { FASTEST: 'fastest', FAST: 'fast', AVERAGE: 'average', SAFE_LOW: 'safeLow' } as const

/** What an error tells the caller besides its message. */
export interface PluginErrorOptions {
  /** A word for programs. */
  readonly code?: string
  /** The HTTP status, 400 to 599. Default: 500. */
  readonly status?: number
  /** Any JSON. */
  readonly details?: unknown
}

/** A failure that the caller of the plugin sees as it is; any other error is only `500`. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
  readonly code: string | undefined
  readonly status: number | undefined
  readonly details: unknown

  constructor(message: string, options: PluginErrorOptions = {}) {
    super(message)
    this.code = options.code
    this.status = options.status
    this.details = options.details
  }
}

/**
 * Makes an error for the caller: `throw pluginError('no such user', { code: 'UNKNOWN_USER', status: 404 })`.
 */
export function pluginError(message: string, options?: PluginErrorOptions): PluginError {
  return new PluginError(message, options)
}

/** A handler of a plugin that exports none. */
type Runner = (api: never, params: never) => unknown

let runner: Runner | undefined

/** Gives the handler of a plugin of the oldest form, which calls this when it is loaded. */
export function runPlugin(handler: Runner): void {
  runner = handler
}

/** Returns the handler that the plugin gave to `runPlugin`. */
export function givenRunner(): Runner | undefined {
  return runner
}

// The enums of the package, with the values of its API: a plugin that uses one must not need the package for
// it.

export const ApiResponseRelayerStatusDataOneOfNetworkTypeEnum = { EVM: 'evm' } as const
export const ApiResponseRelayerStatusDataOneOf1NetworkTypeEnum = { STELLAR: 'stellar' } as const
export const ApiResponseRelayerStatusDataOneOf2NetworkTypeEnum = { SOLANA: 'solana' } as const
export const AssetSpecOneOfTypeEnum = { NATIVE: 'native' } as const
export const AssetSpecOneOf1TypeEnum = { CREDIT4: 'credit4' } as const
export const AssetSpecOneOf2TypeEnum = { CREDIT12: 'credit12' } as const
export const AuthSpecOneOfTypeEnum = { NONE: 'none' } as const
export const AuthSpecOneOf1TypeEnum = { SOURCE_ACCOUNT: 'source_account' } as const
export const AuthSpecOneOf2TypeEnum = { ADDRESSES: 'addresses' } as const
export const AuthSpecOneOf3TypeEnum = { XDR: 'xdr' } as const
export const ComponentStatus = { HEALTHY: 'healthy', DEGRADED: 'degraded', UNHEALTHY: 'unhealthy' } as const
export const ContractSourceOneOfFromEnum = { ADDRESS: 'address' } as const
export const ContractSourceOneOf1FromEnum = { CONTRACT: 'contract' } as const
export const DisabledReasonOneOfTypeEnum = { NONCE_SYNC_FAILED: 'NonceSyncFailed' } as const
export const DisabledReasonOneOf1TypeEnum = { RPC_VALIDATION_FAILED: 'RpcValidationFailed' } as const
export const DisabledReasonOneOf2TypeEnum = { BALANCE_CHECK_FAILED: 'BalanceCheckFailed' } as const
export const DisabledReasonOneOf3TypeEnum = { SEQUENCE_SYNC_FAILED: 'SequenceSyncFailed' } as const
export const DisabledReasonOneOf4TypeEnum = { MULTIPLE: 'Multiple' } as const
export const LogLevel = {
  LOG: 'log',
  INFO: 'info',
  ERROR: 'error',
  WARN: 'warn',
  DEBUG: 'debug',
  RESULT: 'result',
} as const
export const MemoSpecOneOfTypeEnum = { NONE: 'none' } as const
export const MemoSpecOneOf1TypeEnum = { TEXT: 'text' } as const
export const MemoSpecOneOf2TypeEnum = { ID: 'id' } as const
export const MemoSpecOneOf3TypeEnum = { HASH: 'hash' } as const
export const MemoSpecOneOf4TypeEnum = { RETURN: 'return' } as const
export const NotificationType = { WEBHOOK: 'webhook' } as const
export const OperationSpecOneOfTypeEnum = { PAYMENT: 'payment' } as const
export const OperationSpecOneOf1TypeEnum = { INVOKE_CONTRACT: 'invoke_contract' } as const
export const OperationSpecOneOf2TypeEnum = { CREATE_CONTRACT: 'create_contract' } as const
export const OperationSpecOneOf3TypeEnum = { UPLOAD_WASM: 'upload_wasm' } as const
export const RelayerNetworkType = { EVM: 'evm', SOLANA: 'solana', STELLAR: 'stellar' } as const
export const SignerType = {
  LOCAL: 'local',
  AWS_KMS: 'aws_kms',
  GOOGLE_CLOUD_KMS: 'google_cloud_kms',
  VAULT: 'vault',
  VAULT_TRANSIT: 'vault_transit',
  TURNKEY: 'turnkey',
  CDP: 'cdp',
} as const
export const SignerTypeRequest = {
  PLAIN: 'plain',
  AWS_KMS: 'aws_kms',
  VAULT: 'vault',
  VAULT_TRANSIT: 'vault_transit',
  TURNKEY: 'turnkey',
  CDP: 'cdp',
  GOOGLE_CLOUD_KMS: 'google_cloud_kms',
} as const
export const SolanaFeePaymentStrategy = { USER: 'user', RELAYER: 'relayer' } as const
export const SolanaRpcRequestOneOfMethodEnum = { FEE_ESTIMATE: 'feeEstimate' } as const
export const SolanaRpcRequestOneOf1MethodEnum = { TRANSFER_TRANSACTION: 'transferTransaction' } as const
export const SolanaRpcRequestOneOf2MethodEnum = { PREPARE_TRANSACTION: 'prepareTransaction' } as const
export const SolanaRpcRequestOneOf3MethodEnum = { SIGN_TRANSACTION: 'signTransaction' } as const
export const SolanaRpcRequestOneOf4MethodEnum = {
  SIGN_AND_SEND_TRANSACTION: 'signAndSendTransaction',
} as const
export const SolanaRpcRequestOneOf5MethodEnum = { GET_SUPPORTED_TOKENS: 'getSupportedTokens' } as const
export const SolanaRpcRequestOneOf6MethodEnum = { GET_FEATURES_ENABLED: 'getFeaturesEnabled' } as const
export const SolanaRpcRequestOneOf7MethodEnum = { RAW_RPC_REQUEST: 'rawRpcRequest' } as const
export const SolanaRpcResultOneOf7MethodEnum = { RAW_RPC: 'rawRpc' } as const
export const SolanaSwapStrategy = {
  JUPITER_SWAP: 'jupiter-swap',
  JUPITER_ULTRA: 'jupiter-ultra',
  NOOP: 'noop',
} as const
export const StellarFeePaymentStrategy = { USER: 'user', RELAYER: 'relayer' } as const
export const StellarSwapStrategy = { ORDER_BOOK: 'order-book', SOROSWAP: 'soroswap' } as const
export const TransactionStatus = {
  CANCELED: 'canceled',
  PENDING: 'pending',
  SENT: 'sent',
  SUBMITTED: 'submitted',
  MINED: 'mined',
  CONFIRMED: 'confirmed',
  FAILED: 'failed',
  EXPIRED: 'expired',
} as const
