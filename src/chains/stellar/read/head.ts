import type { Answer, Head } from '../../answer.ts'
import type { HeightQuestion } from '../../rpc/node-dialect.ts'
import type { PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { fieldsOf, readInteger } from './replies.ts'

/**
 * Asks for a transaction that cannot be: the answer is short, and every version of the node tells in it the newest ledger and
 * when that closed. `getLatestLedger` does not always have the time, and where it does, sends the whole ledger along.
 */
export const NEWEST: RpcCall = { method: 'getTransaction', params: { hash: '0'.repeat(64) } }

/** How far a node is. It answers the calls of a batch side by side, so this one goes first. */
export const HEIGHT: HeightQuestion = {
  call: NEWEST,
  read: (result) => {
    const fields = fieldsOf({ kind: 'result', result })
    return fields.kind === 'ok' ? readInteger(fields.value.latestLedger) : undefined
  },
  alone: true,
}

/** The newest closed ledger, and when it closed. Asked of an endpoint that is as far as any other was lately. */
export async function readHead(client: PooledClient): Promise<Answer<Head>> {
  const [endpointReply] = await client.sendAsOf([NEWEST])
  const fields = fieldsOf(endpointReply?.reply)
  if (fields.kind !== 'ok') return fields
  const number = readInteger(fields.value.latestLedger)
  const expiredUpTo = readInteger(fields.value.latestLedgerCloseTime)
  // A node that has not seen a ledger yet says 0.
  if (number === undefined || number === 0n || expiredUpTo === undefined) {
    return { kind: 'unknown', detail: 'the endpoint has no ledger yet' }
  }
  const time = new Date(Number(expiredUpTo) * 1_000)
  return { kind: 'ok', value: { number, hash: ledgerHash(number), expiredUpTo, time } }
}

/**
 * Stands for the hash of a ledger. A closed ledger is final (SCP): no other one ever takes its number, so the number tells as
 * much, and nobody has to be asked.
 */
export function ledgerHash(number: bigint): string {
  return number.toString()
}
