import type { BroadcastResult } from '../answer.ts'
import { confirmRefusals } from '../confirm-refusals.ts'
import type { PooledClient } from '../rpc/rpc.ts'
import { markUnanswered } from '../unanswered.ts'
import { reportUnclear, type UnknownTexts } from '../unknown-texts.ts'
import { readSent } from './failures.ts'

/** Sends signed transactions to a node in this order and returns the results in the same order. */
export async function broadcastAll(
  client: PooledClient,
  raws: readonly Uint8Array[],
  unknownTexts: UnknownTexts,
): Promise<BroadcastResult[]> {
  const calls = raws.map((raw) => ({
    method: 'sendTransaction',
    params: [Buffer.from(raw).toString('base64'), SETTINGS],
  }))
  const replies = await client.broadcast(calls)
  const results = replies.map(({ reply, unanswered }) => markUnanswered(readSent(reply), unanswered))
  reportUnclear(unknownTexts, results)
  return confirmRefusals(client, { calls, results, read: readSent })
}

/**
 * The service simulated the transaction before it signed it, and the preflight of a lagging node would refuse what the node does not know
 * yet; the node reads address tables in any case, so they must not be newer than its state. The node does not rebroadcast by itself,
 * because the service does.
 */
const SETTINGS = {
  encoding: 'base64',
  skipPreflight: true,
  preflightCommitment: 'processed',
  maxRetries: 0,
} as const
