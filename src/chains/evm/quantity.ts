import type { HeightQuestion } from '../rpc/node-dialect.ts'

const QUANTITY = /^0x[0-9a-f]+$/i

/** Reads a quantity of the Ethereum JSON-RPC specification (`0x` hex); undefined for any other value. */
export function readQuantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && QUANTITY.test(value) ? BigInt(value) : undefined
}

/** The question for the height of an EVM node. */
export const HEIGHT: HeightQuestion = {
  call: { method: 'eth_blockNumber', params: [] },
  read: readQuantity,
}
