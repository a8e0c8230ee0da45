import type { WalletClient } from '../handlers/rpc/front.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'

/** The facts of a request that all its calls share. */
export interface WalletRequest {
  readonly client: WalletClient
  /** The end of every wait, by the monotonic clock. */
  readonly deadline: number
}

/** A method of a wallet. Parameters come by their positions. */
export type WalletMethod = (request: WalletRequest, params: readonly unknown[]) => Promise<unknown>

/** @throws RpcError unless the account of the relayer has this address */
export function requireAccount({ client: { relayer } }: WalletRequest, address: string, name: string): void {
  if (address.toLowerCase() === relayer.address.toLowerCase()) return
  const problem = `${name}: the account of relayer ${relayer.id} is ${relayer.address}, not ${address}`
  throw new RpcError(RPC_CODES.unauthorized, problem)
}

/** @throws RpcError with this code unless the network of the relayer has this chain id */
export function requireChain({ client }: WalletRequest, wanted: bigint, code: number): void {
  const { relayer, chainId } = client
  if (wanted === BigInt(chainId)) return
  throw new RpcError(code, `chainId: relayer ${relayer.id} is on chain ${chainId}, not ${wanted}`)
}

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
