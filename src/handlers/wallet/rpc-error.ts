/** The codes of EIP-1193, EIP-1474 and EIP-5792 with which methods of a wallet fail. 3 is what nodes say for a call that reverts. */
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

/** Makes the failure of a parameter that is not as it has to be. The message begins with its name. */
export function invalidParams(message: string): RpcError {
  return new RpcError(RPC_CODES.invalidParams, message)
}
