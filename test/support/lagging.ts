/** A JSON-RPC call or reply as it stands in an HTTP body. */
export interface WireEntry {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly method?: string
  readonly params?: readonly unknown[]
  readonly result?: unknown
  readonly error?: unknown
}

/** The index of the block tag in the parameters of the reads that have one. */
const BLOCK_PARAMETER: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 0,
  eth_getTransactionCount: 1,
  eth_getBalance: 1,
  eth_feeHistory: 1,
}

/** The same question, as a replica whose newest block is `head` would understand it. */
export function askedAt(call: WireEntry, head: number): WireEntry {
  const index = BLOCK_PARAMETER[call.method ?? '']
  if (index === undefined || call.params?.[index] !== 'latest') return call
  return { ...call, params: call.params.with(index, hex(head)) }
}

/** Returns the answer of that replica: it has no block, no receipt and no transaction above its own newest block. */
export function answeredAt(call: WireEntry, reply: WireEntry, head: number): WireEntry {
  if (call.method === 'eth_blockNumber') return { ...reply, result: hex(head) }
  const height = heightOf(call, reply.result)
  return height !== undefined && height > head ? { ...reply, result: null } : reply
}

function heightOf({ method }: WireEntry, result: unknown): number | undefined {
  if (typeof result !== 'object' || result === null) return undefined
  const { blockNumber, number } = result as { blockNumber?: string | null; number?: string }
  if (method === 'eth_getBlockByNumber') return Number(number)
  if (method !== 'eth_getTransactionReceipt' && method !== 'eth_getTransactionByHash') return undefined
  return blockNumber ? Number(blockNumber) : undefined
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}
