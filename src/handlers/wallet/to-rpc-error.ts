import { AppError, type ErrorCode } from '../../errors.ts'
import { RPC_CODES, RpcError } from './rpc-error.ts'

/** Translates a failure of the service. Undefined for a fault, of which the caller learns nothing. Pure. */
export function toRpcError(error: unknown): RpcError | undefined {
  if (error instanceof RpcError) return error
  if (!(error instanceof AppError) || error.code === 'internal_error') return undefined
  const code = CODES[error.code] ?? RPC_CODES.transactionRejected
  return new RpcError(code, withNamesOfJsonRpc(error.detail), { code: error.code })
}

/** Every other refusal is one of the transaction by a rule of the service. */
const CODES: { readonly [Code in ErrorCode]?: number } = {
  insufficient_scope: RPC_CODES.unauthorized,
  relayer_not_found: RPC_CODES.unauthorized,
  chain_id_mismatch: RPC_CODES.chainDisconnected,
  execution_reverted: RPC_CODES.executionReverted,
  idempotency_key_reused: RPC_CODES.duplicateId,
  invalid_request: RPC_CODES.invalidParams,
  gas_limit_required: RPC_CODES.invalidParams,
  gas_limit_too_high: RPC_CODES.invalidParams,
  gas_limit_too_low: RPC_CODES.invalidParams,
  network_unavailable: RPC_CODES.disconnected,
  rate_limited: RPC_CODES.limitExceeded,
  signer_unavailable: RPC_CODES.resourceUnavailable,
}

const NAMES: Readonly<Record<string, string>> = {
  gas_limit: 'gas',
  gas_price: 'gasPrice',
  max_fee_per_gas: 'maxFeePerGas',
  max_priority_fee_per_gas: 'maxPriorityFeePerGas',
}

/** Writes the fields of the service, with which a sentence begins, as JSON-RPC has them. */
function withNamesOfJsonRpc(detail: string): string {
  return detail
    .replace(/^body\.transactions\[(\d+)\]/, 'calls.$1')
    .replace(/^body\./, '')
    .replace(
      /^((?:calls\.\d+\.)?)([a-z_]+):/,
      (_, path: string, name: string) => `${path}${NAMES[name] ?? name}:`,
    )
}
