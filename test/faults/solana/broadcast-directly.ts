import type { TestSolana } from '../../../simulators/solana/start-solana.ts'

/** Hands a transaction, in base64, to the network itself, past all faulty nodes. */
export async function broadcastDirectly({ url }: TestSolana, transaction: string): Promise<void> {
  const settings = { encoding: 'base64', skipPreflight: true, maxRetries: 0 }
  const call = { jsonrpc: '2.0', id: 1, method: 'sendTransaction', params: [transaction, settings] }
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(call),
  })
  const { result } = (await answer.json()) as { result?: unknown }
  if (typeof result !== 'string') throw new Error('the network did not take what it was offered')
}
