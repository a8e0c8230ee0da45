import type { HeightQuestion } from '../rpc/node-dialect.ts'

const QUANTITY = /^0x[0-9a-f]+$/i

/** A quantity of the Ethereum JSON-RPC specification (`0x` hex); undefined for anything else that a node may send. */
export function readQuantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && QUANTITY.test(value) ? BigInt(value) : undefined
}

/** How far a node is. */
export const HEIGHT: HeightQuestion = {
  call: { method: 'eth_blockNumber', params: [] },
  read: readQuantity,
}
