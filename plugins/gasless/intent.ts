import { type Hex, hexToBytes, keccak256 } from 'viem'
import type { Rpc } from '../shared/host.ts'
import type { BatchCall } from './accounts/account.ts'
import { RpcError } from './errors.ts'
import type { Delegate } from './networks.ts'
import type { Content } from './wire.ts'

/** A user of a request, whose signature is proved. */
export interface User {
  /** The account that has signed, in lower case. */
  readonly address: Hex
  /** What only one request that waits for its block may have, such as a nonce. */
  readonly slots: readonly string[]
}

/** The funds from which a user pays, so that requests that wait do not count the same twice. */
export interface Payment {
  /** Whose funds they are: a user of the request, or another account that has signed for it. */
  readonly payer: Hex
  /** What only one payment of the payer that waits for its block may have. */
  readonly slots: readonly string[]
  /** Names what it is paid in. */
  readonly unit: string
  readonly amount: bigint
  /** Reads what the user has now. */
  funds(): Promise<bigint>
}

/** What a content does, after its signatures and nonces were checked. */
export interface Intent {
  /** Each account once, in the order of its first request. */
  readonly users: readonly User[]
  /** The earliest signed deadline, in seconds since 1970; undefined if nothing ends the signature. */
  readonly deadline: number | undefined
  /** The least gas limit with which what was signed gets all that it may use. */
  readonly leastGas: bigint
  readonly maxGas: bigint
  /** True if code that a stranger may have written is asked in the block. */
  readonly isUncertain: boolean
  /** True if it creates the account of its user. */
  readonly isCreating?: boolean
  /** The calls of the account, each or none; undefined if the request is no batch of an account. */
  readonly calls?: readonly BatchCall[]
  /**
   * The most that the user pays the relayer for it, and the funds for that; undefined if the user pays
   * nothing.
   */
  readonly payment?: Payment | undefined
  /**
   * Notes that it is sent, alone among the requests of its users; throws if it may not be; undefined if there
   * is nothing to note.
   */
  bind?(): Promise<void>
  /**
   * Executes it on the newest state of the chain. Returns the gas that it needs.
   * @throws RpcError `simulationFailed`
   */
  simulate(): Promise<bigint>
}

/** True if a contract has the code that the operator has listed, at the newest block or another one. */
export async function hasListedCode(
  { address, codeHash }: Pick<Delegate, 'address' | 'codeHash'>,
  rpc: Rpc,
  block: Hex | 'latest' = 'latest',
): Promise<boolean> {
  return codeHash === undefined || keccak256(await rpc<Hex>('eth_getCode', [address, block])) === codeHash
}

/** Signatures of keys have 65 bytes. */
export function requireKeySignature(signature: Hex, path: string): void {
  if (signature.length !== 2 + 65 * 2)
    throw new RpcError('invalidSignature', `${path}: expected 65 bytes by the key of the account.`)
}

/** Refuses a deadline that comes too soon: the block may be later. */
export function checkDeadline(
  deadline: number,
  { path, now, leastSeconds }: { readonly path: string; readonly now: number; readonly leastSeconds: number },
): void {
  const seconds = Math.floor(now / 1000)
  if (deadline < seconds + leastSeconds)
    throw new RpcError(
      'rejected',
      `${path}: ${deadline} is too soon; at least ${leastSeconds} s must be left, and it is ${seconds}.`,
    )
}

/** Returns one and a half times the gas that a simulation took, within what the operator pays for. */
export function gasLimitFor(gas: bigint, { leastGas, maxGas }: Pick<Intent, 'leastGas' | 'maxGas'>): bigint {
  if (gas > maxGas) throw new RpcError('tooLarge', `It needs ${gas} gas; at most ${maxGas} are paid for.`)
  const wanted = (gas * 3n) / 2n
  const limit = wanted > leastGas ? wanted : leastGas
  return limit < maxGas ? limit : maxGas
}

/** The gas of a transaction before its first instruction (EIP-7623), and of each authorization. */
const BASE_GAS = 21_000n
const BYTE_GAS = 40n
const AUTHORIZATION_GAS = 25_000n

/** Returns the most gas that a transaction with this content needs before its first instruction. */
export function intrinsicGas({ data, authorizations }: Pick<Content, 'data' | 'authorizations'>): bigint {
  const bytes = BigInt((data.length - 2) / 2)
  return BASE_GAS + bytes * BYTE_GAS + AUTHORIZATION_GAS * BigInt(authorizations.length)
}

/** The gas of the bytes of a transaction, and the least of which it pays (EIP-7623). */
const ZERO_BYTE_GAS = 4
const OTHER_BYTE_GAS = 16
const FLOOR_FACTOR = 10

/**
 * Returns the gas that a transaction takes whose call finds no code: its own, and the floor, of which the
 * higher one counts.
 */
export function emptyGas({ data, authorizations }: Pick<Content, 'data' | 'authorizations'>): {
  readonly standard: number
  readonly floor: number
} {
  const bytes = hexToBytes(data)
  const zeros = bytes.filter((byte) => byte === 0).length
  const others = bytes.length - zeros
  const base = Number(BASE_GAS)
  const own = zeros * ZERO_BYTE_GAS + others * OTHER_BYTE_GAS
  return {
    standard: base + own + Number(AUTHORIZATION_GAS) * authorizations.length,
    floor: base + FLOOR_FACTOR * (zeros + others * 4),
  }
}
