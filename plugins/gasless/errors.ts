import { ApiRefusal, Crowded, NodeError, Unavailable } from '../shared/host.ts'

/**
 * The errors of JSON-RPC, of the draft of `relayer_*` (ethereum/ERCs#1716), and the time-out of Gelato's
 * dialect.
 */
export const CODES = {
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  timeout: -32_070,
  rejected: 4001,
  insufficientPayment: 4200,
  invalidSignature: 4201,
  unsupportedPaymentToken: 4202,
  rateLimit: 4203,
  quoteExpired: 4204,
  insufficientBalance: 4205,
  unsupportedChain: 4206,
  tooLarge: 4207,
  unknownId: 4208,
  invalidAuthorizationList: 4210,
  simulationFailed: 4211,
  multichain: 4212,
  malformedTaskId: 4213,
  taskIdExists: 4214,
} as const

/** A failure that the caller sees. */
export class RpcError extends Error {
  readonly kind: keyof typeof CODES
  readonly data: unknown

  constructor(kind: keyof typeof CODES, message: string, data?: unknown) {
    super(message)
    this.kind = kind
    this.data = data
  }

  /** Returns the error as it is on the wire. */
  toJson(): object {
    const { kind, message, data } = this
    return { code: CODES[kind], message, ...(data !== undefined && { data }) }
  }
}

/** Makes the failure of a parameter. The message begins with its name. */
export function invalid(message: string): RpcError {
  return new RpcError('invalidParams', message)
}

/** What the refusals of the service mean to a client. Their sentences name the rule or the field. */
const KINDS: Readonly<Record<string, keyof typeof CODES>> = {
  execution_reverted: 'simulationFailed',
  insufficient_balance: 'insufficientBalance',
  policy_violation: 'rejected',
  valid_until_in_past: 'rejected',
}

/** Refusals whose sentence is about the request, and not about what the relayer has. */
const TOLD = new Set(['execution_reverted', 'valid_until_in_past'])

/** Begins the sentences about limits: `user_limits[0].count`. */
const ABOUT_LIMITS = /\b(user_)?limits\b/

/** Converts any failure to an error for the caller; undefined for a defect, which only the log describes. */
export function toRpcError(error: unknown): RpcError | undefined {
  if (error instanceof RpcError) return error
  if (error instanceof Crowded) return new RpcError('rateLimit', error.message)
  if (error instanceof Unavailable)
    return new RpcError('internal', `${error.message} Send the same again: it is sent only once.`)
  if (error instanceof NodeError) return simulationFailed(error)
  if (!(error instanceof ApiRefusal)) return undefined
  const { code, message } = error
  if (code === 'rule_violated' && ABOUT_LIMITS.test(message))
    return new RpcError('rateLimit', 'A limit of the relayer is used up. Try again later.')
  if (message.startsWith('authorization_list')) return new RpcError('invalidAuthorizationList', message)
  const told = TOLD.has(code) ? message : `The relayer does not send this now: ${code}.`
  return new RpcError(KINDS[code] ?? 'rejected', told)
}

/** The longest data of a revert that is passed on, in hexadecimal digits. */
const MAX_REVERT_DIGITS = 2_048

/** The data that a client takes for the id of an accepted transaction, whatever the code of the error is. */
const LOOKS_LIKE_ID = /^0x[0-9a-fA-F]{64}$/

/** Makes the failure of a simulation that a node made. */
export function simulationFailed({ message, data }: NodeError): RpcError {
  return revertedWith(`The simulation fails: ${message.slice(0, 300)}`, revertIn(data))
}

/** Makes the failure of a simulation by what the contract returned. */
export function revertedWith(message: string, revert: string | undefined): RpcError {
  if (revert === undefined) return new RpcError('simulationFailed', message)
  const shown = revert.slice(0, 2 + MAX_REVERT_DIGITS)
  return new RpcError('simulationFailed', message, LOOKS_LIKE_ID.test(shown) ? { revert: shown } : shown)
}

function revertIn(data: unknown): string | undefined {
  return typeof data === 'string' && /^0x([0-9a-fA-F]{2})*$/.test(data) ? data : undefined
}
