import type { FaultyNode } from './faulty-node.ts'
import type { WireEntry } from './lagging.ts'

/**
 * The nodes of one network contradict each other: bytes that one node took, while its reply was lost, are refused by every other node.
 * Real networks do so when the pools of two nodes hold different transactions of one account.
 */
export interface Contradiction {
  readonly method: string
  /** The refusal of the other nodes: an `error`, or a `result` on chains that refuse by one. */
  readonly refusal: Pick<WireEntry, 'error' | 'result'>
  /** The node that took each broadcast whose reply was lost. */
  readonly lost: Map<string, Pick<FaultyNode, 'fault'>>
}

/** Nodes that never lose a reply share nothing. */
export function createContradiction(parts: Omit<Contradiction, 'lost'>): Contradiction {
  return { ...parts, lost: new Map() }
}

/** Chain by chain, a refusal that would end an attempt: a fee too low for the pool, and bytes that the node finds invalid. */
export const REFUSALS = {
  evm: {
    method: 'eth_sendRawTransaction',
    refusal: { error: { code: -32000, message: 'replacement transaction underpriced' } },
  },
  stellar: {
    method: 'sendTransaction',
    // TransactionResult: a fee of 0 is charged, txINSUFFICIENT_FEE, no extension.
    refusal: { result: { status: 'ERROR', errorResultXdr: 'AAAAAAAAAAD////3AAAAAA==' } },
  },
  solana: {
    method: 'sendTransaction',
    refusal: { error: { code: -32003, message: 'Transaction signature verification failure' } },
  },
} as const

/** Remembers the broadcasts of a body whose reply is lost. */
export function loseBroadcasts(
  { method, lost }: Contradiction,
  node: Pick<FaultyNode, 'fault'>,
  calls: readonly WireEntry[],
): void {
  for (const call of calls) if (call.method === method) lost.set(JSON.stringify(call.params), node)
}

/** Returns the refusal of this node; undefined for other calls, and for bytes that no other node took. */
export function contradicts(
  { method, lost, refusal }: Contradiction,
  node: Pick<FaultyNode, 'fault'>,
  call: WireEntry,
): Contradiction['refusal'] | undefined {
  if (call.method !== method) return undefined
  const owner = lost.get(JSON.stringify(call.params))
  return owner === undefined || owner === node ? undefined : refusal
}
