import { RelayerError } from '../errors/relayer-error.ts'

/** The codes of EIP-1193, EIP-1474 and EIP-5792 with which the provider fails. 3 is what nodes say for a call that reverts. */
export const PROVIDER_CODES = {
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
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const

/** A failure as EIP-1193 describes it. `data` has the code of the service, the data of the node, or what the caller needs to go on. */
export class ProviderRpcError extends RelayerError {
  override readonly name = 'ProviderRpcError'
  readonly code: number
  readonly data: unknown

  constructor(
    code: number,
    message: string,
    { data, cause }: { readonly data?: unknown; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.data = data
  }
}

/** A parameter is not as it has to be. The message begins with its name. */
export function invalidParams(message: string): ProviderRpcError {
  return new ProviderRpcError(PROVIDER_CODES.invalidParams, message)
}
