import type { HeightQuestion } from '../../rpc/node-dialect.ts'

/** No quantity of a chain has more than 256 bits, the word of its virtual machine. */
const QUANTITY = /^0x[0-9a-f]{1,64}$/i

/** The database stores heights, nonces and gas as signed 64-bit integers. */
const MAX_COUNT = 2n ** 63n - 1n

/**
 * Reads a quantity of the Ethereum JSON-RPC specification (`0x` hex, at most 256 bits), such as a balance or
 * a price; undefined for any other value.
 */
export function readQuantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && QUANTITY.test(value) ? BigInt(value) : undefined
}

/**
 * Reads a quantity that counts blocks, transactions or gas (at most 63 bits); undefined for any other value.
 */
export function readCount(value: unknown): bigint | undefined {
  const count = readQuantity(value)
  return count === undefined || count > MAX_COUNT ? undefined : count
}

/** Amounts have at most 128 bits in the contract, and so gas times a price fits the column `cost`. */
const MAX_PRICE = 2n ** 128n - 1n

/**
 * Reads a gas price or a fee, in wei (at most 128 bits); undefined for any other value, which no chain
 * charges.
 */
export function readPrice(value: unknown): bigint | undefined {
  const price = readQuantity(value)
  return price !== undefined && isPrice(price) ? price : undefined
}

/** Returns true for a plausible price or fee. */
export function isPrice(amount: bigint): boolean {
  return amount <= MAX_PRICE
}

/** The question for the height of an EVM node. */
export const HEIGHT: HeightQuestion = {
  call: { method: 'eth_blockNumber', params: [] },
  read: readCount,
}
