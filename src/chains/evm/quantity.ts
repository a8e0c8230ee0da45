const QUANTITY = /^0x[0-9a-f]+$/i

/** A quantity of the Ethereum JSON-RPC specification (`0x` hex); undefined for anything else that a node may send. */
export function readQuantity(value: unknown): bigint | undefined {
  return typeof value === 'string' && QUANTITY.test(value) ? BigInt(value) : undefined
}
