import type { BroadcastResult } from '../answer.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import { readSent } from './failures.ts'

/** Hands signed transactions to a node, in the order given; the results are in the same order. */
export async function broadcastAll(
  client: PooledClient,
  raws: readonly Uint8Array[],
): Promise<BroadcastResult[]> {
  const calls = raws.map((raw) => ({
    method: 'sendTransaction',
    params: [Buffer.from(raw).toString('base64'), SETTINGS],
  }))
  return (await client.send(calls)).map(readSent)
}

/**
 * It was simulated before it was signed, and a lagging node would refuse what it does not understand yet; address tables are
 * read in any case, so as new as they are. The node is not to offer it again by itself: the service does, for as long as it
 * wants it.
 */
const SETTINGS = {
  encoding: 'base64',
  skipPreflight: true,
  preflightCommitment: 'processed',
  maxRetries: 0,
} as const
