import type { Hex } from 'viem'
import { isRecord } from '../shared/host.ts'
import { invalid, RpcError } from './errors.ts'

/** An authorization that an account has signed (EIP-7702). */
export interface Authorization {
  readonly address: Hex
  readonly chainId: number
  readonly nonce: bigint
  readonly yParity: 0 | 1
  readonly r: Hex
  readonly s: Hex
}

/** What a user has signed, with the chain on which it is sent. Addresses are in lower case. */
export interface Content {
  readonly chainId: number
  readonly to: Hex
  readonly data: Hex
  readonly authorizations: readonly Authorization[]
}

/** The payer. */
export interface AskedPayment {
  /** The token that the user pays in; undefined if the application pays. */
  readonly token: Hex | undefined
  /** The name of a quote. */
  readonly context: string | undefined
}

/** The application pays. */
export const SPONSORED: AskedPayment = { token: undefined, context: undefined }

/** The parameters of `relayer_sendTransaction`. */
export interface SendParams {
  readonly content: Content
  /** A name that the application chose: 32 bytes. */
  readonly taskId: Hex | undefined
  readonly payment: AskedPayment
  /** `relayer_sendTransactionSync`: how long to wait, in milliseconds. */
  readonly timeoutMs: number | undefined
}

/** The most bytes of call data. The body of a call of a plugin has at most 256 KiB. */
const MAX_DATA_BYTES = 65_536

/** The parameters of a method: one object, or a list with one. */
export function readParams(params: unknown): Readonly<Record<string, unknown>> {
  const only: unknown = Array.isArray(params) && params.length === 1 ? params[0] : (params ?? {})
  if (!isRecord(only)) throw invalid('params: expected an object, or a list with one.')
  return only
}

/**
 * Reads the parameters of a send, in all forms of the dialects: integers as numbers, decimal texts or
 * hexadecimal ones. `gas` and `skipSimulation` of Gelato's dialect are accepted and have no effect.
 */
export function readSend(fields: Readonly<Record<string, unknown>>): SendParams {
  const { taskId, timeout, authorizationList = [] } = fields
  if (taskId !== undefined && taskId !== null && !isWord(taskId))
    throw new RpcError('malformedTaskId', 'taskId: expected 0x and 64 hexadecimal digits.')
  if (!isList(authorizationList))
    throw new RpcError('invalidAuthorizationList', 'authorizationList: expected a list.')
  if (authorizationList.length > 1)
    throw new RpcError(
      'invalidAuthorizationList',
      'authorizationList: expected at most one entry, by the account that is called.',
    )
  const data = hexOf(fields.data, 'data')
  if (data.length > 2 + MAX_DATA_BYTES * 2)
    throw new RpcError('tooLarge', `data: expected at most ${MAX_DATA_BYTES} bytes.`)
  return {
    content: {
      chainId: readChainId(fields.chainId),
      to: addressOf(fields.to, 'to'),
      data,
      authorizations: authorizationList.map(readAuthorization),
    },
    payment: readPayment(fields),
    taskId: isWord(taskId) ? (taskId.toLowerCase() as Hex) : undefined,
    timeoutMs: timeout === undefined || timeout === null ? undefined : numberOf(timeout, 'timeout'),
  }
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

function readPayment({ payment, context }: Readonly<Record<string, unknown>>): AskedPayment {
  if (payment === undefined || payment === null) return SPONSORED
  if (!isRecord(payment)) throw invalid('payment: expected an object with type.')
  const { type, address } = payment
  if (type === 'sponsored') return SPONSORED
  if (type === 'token' && address !== undefined)
    return {
      token: addressOf(address, 'payment.address'),
      context: context === undefined || context === null ? undefined : textOf(context, 'context'),
    }
  throw new RpcError(
    'unsupportedPaymentToken',
    `payment.type: ${String(type).slice(0, 40)} is not supported; expected sponsored, or token with its address.`,
  )
}

function textOf(value: unknown, path: string): string {
  if (typeof value === 'string') return value
  throw invalid(`${path}: expected the text that a quote has.`)
}

function readAuthorization(value: unknown): Authorization {
  const path = 'authorizationList[0]'
  if (!isRecord(value)) throw new RpcError('invalidAuthorizationList', `${path}: expected an object.`)
  try {
    const { address, chainId, nonce, yParity, r, s } = value
    return {
      address: addressOf(address, `${path}.address`),
      chainId: numberOf(chainId, `${path}.chainId`),
      nonce: integerOf(nonce, `${path}.nonce`),
      yParity: parityOf(yParity, `${path}.yParity`),
      r: wordOf(r, `${path}.r`),
      s: wordOf(s, `${path}.s`),
    }
  } catch (error) {
    throw error instanceof RpcError ? new RpcError('invalidAuthorizationList', error.message) : error
  }
}

/** viem's client sends 0 as 32 bytes of zeros, and others as an empty text. */
function parityOf(value: unknown, path: string): 0 | 1 {
  const parity = value === '0x' ? 0n : integerOf(value, path)
  if (parity > 1n) throw invalid(`${path}: expected 0 or 1.`)
  return parity === 0n ? 0 : 1
}

/** Reads the id of a chain. */
export function readChainId(value: unknown): number {
  return numberOf(value, 'chainId')
}

function numberOf(value: unknown, path: string): number {
  const integer = integerOf(value, path)
  if (integer > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid(`${path}: expected at most 2^53 - 1.`)
  return Number(integer)
}

/** The digits of the largest uint256, in decimal and hexadecimal. */
const INTEGER = /^(\d{1,78}|0x[0-9a-fA-F]{1,64})$/

/** Reads an integer. */
export function integerOf(value: unknown, path: string): bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value)
  if (typeof value === 'string' && INTEGER.test(value)) return BigInt(value)
  throw invalid(`${path}: expected an integer, as a number, a decimal or a hexadecimal text.`)
}

/** Reads an address, in lower case. */
export function addressOf(value: unknown, path: string): Hex {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)) return value.toLowerCase() as Hex
  throw invalid(`${path}: expected an address, 0x and 40 hexadecimal digits.`)
}

/** Reads bytes, in lower case, so that the same bytes have the same name. */
export function hexOf(value: unknown, path: string): Hex {
  if (typeof value === 'string' && /^0x([0-9a-fA-F]{2})*$/.test(value)) return value.toLowerCase() as Hex
  throw invalid(`${path}: expected bytes in hexadecimal digits, 0x…`)
}

function isWord(value: unknown): value is Hex {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)
}

/** Reads 32 bytes, also with fewer digits: some libraries leave zeros out. */
export function wordOf(value: unknown, path: string): Hex {
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value))
    return `0x${value.slice(2).toLowerCase().padStart(64, '0')}`
  throw invalid(`${path}: expected 32 bytes in hexadecimal digits.`)
}

/** Reads the id of a request. */
export function readId({ id }: Readonly<Record<string, unknown>>): Hex {
  if (isWord(id)) return id.toLowerCase() as Hex
  throw invalid('id: expected 0x and 64 hexadecimal digits.')
}
