/** An error as JSON-RPC knows it. */
export class RpcFault extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Codes of JSON-RPC 2.0. */
export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603

/** Refuses parameters. */
export function invalidParams(message: string): RpcFault {
  return new RpcFault(INVALID_PARAMS, message)
}
