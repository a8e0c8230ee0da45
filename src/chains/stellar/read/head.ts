import type { Answer, Head } from '../../answer.ts'
import type { HeightQuestion } from '../../rpc/node-dialect.ts'
import type { PooledClient, RpcCall } from '../../rpc/rpc.ts'
import { fieldsOf, readInteger } from './replies.ts'

/**
 * Asks for a transaction that cannot exist: the answer is short, and every version of the node reports in it the newest ledger and its
 * close time. `getLatestLedger` does not always have the time, and where it does, sends the whole ledger along.
 */
export const NEWEST: RpcCall = { method: 'getTransaction', params: { hash: '0'.repeat(64) } }

/** The question for the newest ledger of a node. The node answers the calls of a batch in parallel, so this question goes first. */
export const HEIGHT: HeightQuestion = {
  call: NEWEST,
  read: (result) => {
    const fields = fieldsOf({ kind: 'result', result })
    return fields.kind === 'ok' ? readInteger(fields.value.latestLedger) : undefined
  },
  alone: true,
}

/** Reads the newest closed ledger and its close time, from an endpoint that is as far as the others were lately. */
export async function readHead(client: PooledClient): Promise<Answer<Head>> {
  const [endpointReply] = await client.sendAsOf([NEWEST])
  const fields = fieldsOf(endpointReply?.reply)
  if (fields.kind !== 'ok') return fields
  const number = readInteger(fields.value.latestLedger)
  const expiredUpTo = readInteger(fields.value.latestLedgerCloseTime)
  // A node that has not seen a ledger yet reports 0.
  if (number === undefined || number === 0n || expiredUpTo === undefined) {
    return { kind: 'unknown', detail: 'the endpoint has no ledger yet' }
  }
  const time = new Date(Number(expiredUpTo) * 1_000)
  return { kind: 'ok', value: { number, hash: ledgerHash(number), expiredUpTo, time } }
}

/**
 * Returns a substitute for the hash of a ledger. A closed ledger is final (SCP) and no other one ever gets its number, so the number is as
 * good, and needs no question.
 */
export function ledgerHash(number: bigint): string {
  return number.toString()
}
