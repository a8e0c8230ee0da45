import { type Answer, type Head, NO_REPLY } from '../../answer.ts'
import { askHead, askStatements, secondHighest } from '../../rpc/agreement.ts'
import type { HeightQuestion } from '../../rpc/node-dialect.ts'
import type { EndpointReply, PooledClient, RpcCall, RpcReply } from '../../rpc/rpc.ts'
import type { UnixSeconds } from '../content.ts'

const MAX_INT64 = 2n ** 63n - 1n

/** The answer of a node that has not reached the demanded ledger, or did not report its ledger. */
export const BEHIND = {
  kind: 'unknown',
  detail: 'the endpoint is behind the newest known ledger',
} as const

/** Returns the fields of a result; unknown when there is none, or it is unreadable. */
export function fieldsOf(reply: RpcReply = NO_REPLY): Answer<Readonly<Record<string, unknown>>> {
  if (reply.kind === 'error') return { kind: 'unknown', detail: reply.message }
  if (reply.kind === 'unknown') return reply
  const { result } = reply
  return typeof result === 'object' && result !== null
    ? { kind: 'ok', value: result as Record<string, unknown> }
    : { kind: 'unknown', detail: 'the endpoint did not answer with an object' }
}

/** Returns the fields of a result for a final decision, so an endpoint that is behind does not count (I6). */
export function freshFieldsOf(
  endpointReply: EndpointReply | undefined,
  asOf: bigint | undefined,
): Answer<Readonly<Record<string, unknown>>> {
  if (endpointReply === undefined) return fieldsOf()
  const fields = fieldsOf(endpointReply.reply)
  return fields.kind === 'ok' && (endpointReply.behind || isBehind(fields.value, asOf)) ? BEHIND : fields
}

/** Several nodes may be behind one url, so the one that answers reports its own ledger. */
export function isBehind(
  { latestLedger }: Readonly<Record<string, unknown>>,
  asOf: bigint | undefined,
): boolean {
  const reached = readInteger(latestLedger)
  return asOf !== undefined && reached !== undefined && reached < asOf
}

/**
 * Reads an integer from 0 as nodes write it: a JSON number where it is small, decimal digits where it may
 * exceed 2^53. Returns undefined for anything else, for a number that JSON could have rounded, and for more
 * than 63 bits: amounts, fees and times of the protocol are int64.
 */
export function readInteger(value: unknown): bigint | undefined {
  const integer = digitsOf(value)
  return integer === undefined || integer > MAX_INT64 ? undefined : integer
}

function digitsOf(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  return typeof value === 'string' && /^\d{1,19}$/.test(value) ? BigInt(value) : undefined
}

/** Reads the close time of a ledger; undefined for anything else. */
export function readUnixSeconds(value: unknown): UnixSeconds | undefined {
  return readInteger(value) as UnixSeconds | undefined
}

/**
 * Looks up a transaction that cannot exist: the reply is short, and in every version of the node it has the
 * newest ledger and its close time. `getLatestLedger` does not always have the time, and where it does, sends
 * the whole ledger along.
 */
export const NEWEST: RpcCall = { method: 'getTransaction', params: { hash: '0'.repeat(64) } }

/**
 * The question for the newest ledger of a node. The node answers the calls of a batch in parallel, so this
 * question goes first.
 */
export const HEIGHT: HeightQuestion = {
  call: NEWEST,
  read: (result) => {
    const fields = fieldsOf({ kind: 'result', result })
    return fields.kind === 'ok' ? readInteger(fields.value.latestLedger) : undefined
  },
  alone: true,
}

/**
 * Reads the newest closed ledger and its close time, from an endpoint that is as far as the others were
 * lately.
 */
export function readHead(client: PooledClient): Promise<Answer<Head>> {
  return askHead(client, {
    calls: [NEWEST],
    read: ([endpointReply]) => readHeadIn(endpointReply?.reply),
    aheadBlocks: TOLERATED_LEDGERS,
  })
}

/**
 * Reads the newest closed ledger and its close time as two endpoints tell them; of two that differ, the lower
 * ones.
 */
export async function readAgreedHead(client: PooledClient): Promise<Answer<Head>> {
  const told = await askStatements(client, {
    calls: [NEWEST],
    read: ([endpointReply]) => readHeadIn(endpointReply?.reply),
    isSame: (one, other) => one.number === other.number && one.expiredUpTo === other.expiredUpTo,
    toleratedBlocks: TOLERATED_LEDGERS,
  })
  if (told.kind !== 'ok') return told
  const heads = told.value.map(({ value }) => value)
  const number = secondHighest(heads.map((head) => head.number)) ?? 0n
  const expiredUpTo = secondHighest(heads.map((head) => head.expiredUpTo ?? 0n)) ?? 0n
  return { kind: 'ok', value: { number, hash: ledgerHash(number), expiredUpTo } }
}

/**
 * A node may be one ledger behind the newest one when its answer is not final: nodes close a ledger at
 * slightly different times.
 */
export const TOLERATED_LEDGERS = 1n

function readHeadIn(reply: RpcReply | undefined): Answer<Head> {
  const fields = fieldsOf(reply)
  if (fields.kind !== 'ok') return fields
  const number = readInteger(fields.value.latestLedger)
  const expiredUpTo = readUnixSeconds(fields.value.latestLedgerCloseTime)
  // A node that has not seen a ledger yet reports 0.
  if (number === undefined || number === 0n || expiredUpTo === undefined) {
    return { kind: 'unknown', detail: 'the endpoint has no ledger yet' }
  }
  const time = new Date(Number(expiredUpTo) * 1_000)
  return { kind: 'ok', value: { number, hash: ledgerHash(number), expiredUpTo, time } }
}

/**
 * Returns a substitute for the hash of a ledger. A closed ledger is final (SCP) and no other one ever gets
 * its number, so the number is as good, and needs no query.
 */
export function ledgerHash(number: bigint): string {
  return number.toString()
}
