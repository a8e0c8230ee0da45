import { callerName, type Principal } from '../../access/principal.ts'
import type { Scope } from '../../access/scope.ts'
import type { Input, OperationId, RawInput } from '../../contract/operations.ts'
import type { RequestContext } from '../../http/handler.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { RelayerRuntime } from '../../transactions/model/runtime.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'

/** The facts of a request that all its calls share. */
export interface WalletRequest {
  readonly relayer: Relayer
  readonly runtime: RelayerRuntime
  /** The chain id of its network. */
  readonly chainId: number
  readonly context: RequestContext
  /** The end of every wait, by the monotonic clock. */
  readonly deadline: number
}

/** A method of a wallet. Parameters come by their positions. */
export type WalletMethod = (request: WalletRequest, params: readonly unknown[]) => Promise<unknown>

/** @throws RpcError unless the account of the relayer has this address */
export function requireAccount({ relayer }: WalletRequest, address: string, name: string): void {
  if (address.toLowerCase() === relayer.address.toLowerCase()) return
  const problem = `${name}: the account of relayer ${relayer.id} is ${relayer.address}, not ${address}`
  throw new RpcError(RPC_CODES.unauthorized, problem)
}

/** @throws RpcError with this code unless the network of the relayer has this chain id */
export function requireChain({ relayer, chainId }: WalletRequest, wanted: bigint, code: number): void {
  if (wanted === BigInt(chainId)) return
  throw new RpcError(code, `chainId: relayer ${relayer.id} is on chain ${chainId}, not ${wanted}`)
}

/** @throws RpcError if the API key does not have the scope */
export function requireScope({ context: { principal } }: WalletRequest, scope: Scope): void {
  if (principal.may(scope)) return
  const problem = `${callerName(principal.id)} lacks the scope ${scope}.`
  throw new RpcError(RPC_CODES.unauthorized, problem, { code: 'insufficient_scope' })
}

/**
 * Admits a call inside the process to an operation as if it came in a separate request: it checks the scope,
 * then the input by the contract.
 *
 * @throws AppError `insufficient_scope` or `invalid_request`
 */
export type AdmitCall = <Id extends OperationId>(
  operation: Id,
  principal: Principal,
  call: RawInput,
) => Input<Id>

/** The fields of an object of a call. */
export type Fields = Readonly<Record<string, unknown>>

/** @throws RpcError if the value is no object */
export function readFields(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidParams(`${name}: an object is expected`)
  return value as Fields
}

/** @throws RpcError if the value is no text */
export function readText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw invalidParams(`${name}: a string is expected`)
  return value
}

/** The most hexadecimal digits of a quantity: a word of the EVM has 256 bits. */
const MOST_DIGITS = 64

/** @throws RpcError if the value is there, and is no quantity */
export function readQuantity(value: unknown, name: string): bigint | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value !== 'string' || value.length > 2 + MOST_DIGITS || !/^0x[0-9a-f]+$/i.test(value))
    throw invalidParams(
      `${name}: a quantity is expected, which is 0x and at most ${MOST_DIGITS} hexadecimal digits`,
    )
  return BigInt(value)
}

/** @throws RpcError if the value is there, and no bytes are */
export function readBytes(value: unknown, name: string): string | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value !== 'string' || value.length % 2 !== 0 || !/^0x[0-9a-f]*$/i.test(value))
    throw invalidParams(`${name}: bytes are expected, which are 0x and an even number of hexadecimal digits`)
  return value
}

/** @throws RpcError if the value is there, and is no address */
export function readAddress(value: unknown, name: string): string | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value !== 'string' || !/^0x[0-9a-f]{40}$/i.test(value))
    throw invalidParams(`${name}: an address is expected, which is 0x and 40 hexadecimal digits`)
  return value
}

/** Libraries send fields that they do not use as null, or as an empty list. */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}
