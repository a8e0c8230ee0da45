import { AppError, type ErrorCode } from '../errors.ts'
import type { RpcAnswer } from '../handlers/rpc/front.ts'
import { omitUndefined } from '../lib/object.ts'

/**
 * The codes of EIP-1193, EIP-1474 and EIP-5792 with which methods of a wallet fail. 3 is what nodes say for a
 * call that reverts.
 */
export const RPC_CODES = {
  executionReverted: 3,
  userRejected: 4001,
  unauthorized: 4100,
  unsupportedMethod: 4200,
  disconnected: 4900,
  chainDisconnected: 4901,
  unsupportedCapability: 5700,
  unsupportedChain: 5710,
  duplicateId: 5720,
  unknownBundle: 5730,
  bundleTooLarge: 5740,
  atomicityNotSupported: 5760,
  resourceUnavailable: -32002,
  transactionRejected: -32003,
  limitExceeded: -32005,
  invalidParams: -32602,
  internal: -32603,
} as const

/** A failure of a method of a wallet, as JSON-RPC answers it. The message is a sentence for the caller. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  /** Facts for a program: the code of the service, or the transaction that was accepted all the same. */
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Creates the failure of an invalid parameter. The message begins with its name. */
export function invalidParams(message: string): RpcError {
  return new RpcError(RPC_CODES.invalidParams, message)
}

/** Answers with a failure. `report` gets a fault, of which the caller learns nothing. */
export function answerOf(failure: unknown, report: (fault: unknown) => void): RpcAnswer {
  const known = toRpcError(failure)
  if (known === undefined) report(failure)
  const { code, message, data } = known ?? FAULT
  return { error: omitUndefined({ code, message, data }) }
}

const FAULT = new RpcError(
  RPC_CODES.internal,
  'Something went wrong in the service. The X-Request-Id header identifies the log entry. It may have taken effect; check before you repeat it.',
)

/** Translates a failure of the service. Undefined for a fault. Pure. */
function toRpcError(error: unknown): RpcError | undefined {
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
  plugin_unavailable: RPC_CODES.resourceUnavailable,
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
