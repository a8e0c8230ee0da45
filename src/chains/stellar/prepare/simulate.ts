import { SorobanAuthorizationEntry, SorobanTransactionData, type Transaction } from '@stellar/stellar-sdk/xdr'
import { larger } from '../../../lib/bigint.ts'
import type { Answer } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { closeEnvelope } from '../model/envelope.ts'
import { readInteger } from '../read/integer.ts'
import { BEHIND, fieldsOf, isBehind } from '../read/replies.ts'

/** What a dry run found. */
export interface Simulation {
  /** Footprint and resources. */
  readonly data: SorobanTransactionData
  /** For the resources, in stroops, with what the node adds of its own accord. */
  readonly resourceFee: bigint
  /** Who has to agree to the call; empty where entries were given. */
  readonly auth: readonly SorobanAuthorizationEntry[]
  /** What has to be restored before the call can run (CAP-46-12). */
  readonly restore?: SorobanTransactionData
}

/** The reason of a failed call is cut here, in characters: the node adds a log of everything that happened. */
const MAX_REASON = 512

/**
 * What stellar-rpc says when the call itself is at fault: what the contract's host says (`HostError`, soroban-env-host), and what the node says of
 * a transaction that it cannot simulate (`simulate_transaction.go`). Everything else in the same field is trouble of the node: a full
 * queue, a worker pool that is closed, a stellar-core that does not answer (`preflight/pool.go`).
 */
const FAULT_OF_CALL =
  /^(HostError\b|Could not unmarshal transaction|Transaction contains (more than one operation|unsupported operation type)|To perform a SimulateTransaction for|(optional|cannot set) '?authMode)/

/** Runs a transaction of smart contracts on a node without sending it. Refused when it would fail as of the newest ledger that is known. */
export async function simulate(client: PooledClient, tx: Transaction): Promise<Answer<Simulation>> {
  const newest = newestKnown(client)
  const [endpointReply] = await client.sendAsOf(
    [{ method: 'simulateTransaction', params: { transaction: closeEnvelope(tx) } }],
    newest,
  )
  const fields = fieldsOf(endpointReply?.reply)
  if (fields.kind !== 'ok') return fields
  const { error, transactionData, minResourceFee, results, restorePreamble } = fields.value
  if (typeof error === 'string') {
    if (!FAULT_OF_CALL.test(error)) return { kind: 'unknown', detail: reasonOf(error) }
    // What the call needs may have come with a ledger that this node does not have yet.
    if (endpointReply?.behind !== false || isBehind(fields.value, newest)) return BEHIND
    return { kind: 'refused', refusal: { code: 'execution_reverted', detail: reasonOf(error) } }
  }
  const [data, resourceFee, auth] = [
    readData(transactionData),
    readInteger(minResourceFee),
    readAuth(results),
  ]
  if (data === undefined || resourceFee === undefined || resourceFee < 0n || auth === undefined) return NONE
  const simulation = { data, resourceFee, auth }
  const preamble = preambleIn(restorePreamble)
  if (preamble === undefined) return { kind: 'ok', value: simulation }
  const restore = readData(preamble)
  return restore === undefined || restore.resourceFee < 0n
    ? NONE
    : { kind: 'ok', value: { ...simulation, restore } }
}

function newestKnown(client: PooledClient): bigint {
  return client.states().reduce((newest, { head }) => larger(newest, head ?? 0n), 0n)
}

const NONE = { kind: 'unknown', detail: 'the endpoint did not answer with a simulation' } as const

/** The node's words up to its log: `HostError: Error(Contract, #10)`. */
function reasonOf(error: string): string {
  const [reason = ''] = error.split(/\n\s*\n|\nEvent log/)
  return `The simulation failed: ${reason.replace(/\s+/g, ' ').trim().slice(0, MAX_REASON)}`
}

function readData(base64: unknown): SorobanTransactionData | undefined {
  if (typeof base64 !== 'string') return undefined
  try {
    return SorobanTransactionData.fromXdr(base64, 'base64')
  } catch {
    return undefined // The SDK says it with an exception: not XDR, or not of this kind.
  }
}

/** One result for the one operation; none for those that only restore or extend. */
function readAuth(results: unknown): readonly SorobanAuthorizationEntry[] | undefined {
  if (results === undefined || results === null) return []
  const [first] = Array.isArray(results) ? (results as unknown[]) : []
  const { auth } = (first ?? {}) as { auth?: unknown }
  if (auth === undefined || auth === null) return []
  const entries: readonly unknown[] | undefined = Array.isArray(auth) ? auth : undefined
  if (entries?.every((entry) => typeof entry === 'string') !== true) return undefined
  try {
    return entries.map((entry) => SorobanAuthorizationEntry.fromXdr(String(entry), 'base64'))
  } catch {
    return undefined // As above.
  }
}

function preambleIn(preamble: unknown): string | undefined {
  const { transactionData } = (preamble ?? {}) as { transactionData?: unknown }
  return typeof transactionData === 'string' && transactionData !== '' ? transactionData : undefined
}
