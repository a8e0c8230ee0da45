import {
  type ContractEvent,
  ContractEventType,
  DiagnosticEvent,
  InvokeHostFunctionOp,
  Operation,
  OperationBody,
  type SorobanAddressCredentials,
  SorobanAuthorizationEntry,
  type SorobanCredentials,
  SorobanTransactionData,
  type Transaction,
  TransactionExt,
} from '@stellar/stellar-sdk/xdr'
import { larger } from '../../../lib/bigint.ts'
import type { Answer, Refusal } from '../../answer.ts'
import { askEveryone, isNear, mostAgreed } from '../../rpc/agreement.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import type { SimulationOpinion, SimulationRefusals } from '../../simulations.ts'
import type { FeePayment } from '../../sponsoring.ts'
import { paidIn } from '../effects/paid-in.ts'
import { closeEnvelope, withFields, withLastLedger } from '../model/envelope.ts'
import type { SorobanAuth } from '../model/operation.ts'
import { underlying } from '../model/strkey.ts'
import { BEHIND, fieldsOf, isBehind, readInteger } from '../read/replies.ts'
import { MAX_PLAIN_FEE } from './fees.ts'

/** The result of a simulation. */
export interface Simulation {
  /** The footprint and the resources. */
  readonly data: SorobanTransactionData
  /** The fee for the resources, in stroops, with the margin of the node. */
  readonly resourceFee: bigint
  /** The authorizations that the call needs; empty where the caller sent entries. */
  readonly auth: readonly SorobanAuthorizationEntry[]
  /** The entries that must be restored before the call can run (CAP-46-12). */
  readonly restore?: SorobanTransactionData
  /** What contracts emitted. */
  readonly events: readonly ContractEvent[]
}

/** The reason of a failed call is cut at this length, in characters: the node adds a log of all events. */
const MAX_REASON = 512

/**
 * Messages of stellar-rpc about the call itself: those of the contract's host (`HostError`,
 * soroban-env-host), and those about a transaction that the node cannot simulate (`simulate_transaction.go`).
 * Every other message in the same field is a failure of the node: a full queue, a closed worker pool, a
 * stellar-core that does not answer (`preflight/pool.go`).
 */
const FAULT_OF_CALL =
  /^(HostError\b|Could not unmarshal transaction|[Tt]ransaction contains (more than one operation|unsupported operation type)|To perform a SimulateTransaction for|(optional|cannot set) '?authMode)/

/**
 * A repeated refusal is final after this many ledgers although another endpoint is silent: a node that is
 * only late reaches within this minute the ledger that the caller has seen. More ledgers delay the account
 * while an endpoint is dead; fewer let a late node end good calls.
 */
export const FINAL_AFTER_LEDGERS = 12n

/** The context of a simulation. */
export interface SimulationContext {
  readonly client: PooledClient
  readonly simulations: SimulationRefusals
}

/**
 * The caller's decision about a simulation. It may also refuse: the needs of a call depend on the ledger of
 * the simulation.
 */
type Decide<T> = (simulation: Simulation) => Answer<T>

/** The circumstances of a decision. */
interface Deciding<T> {
  readonly decide: Decide<T>
  /**
   * The most that the resources may cost, in stroops, where that is known: of two endpoints that differ, one
   * within it counts.
   */
  readonly most?: bigint | undefined
}

/**
 * Runs a transaction of smart contracts on the nodes without sending it, and decides by the result that they
 * agree on. With one endpoint, a refusal is asked for again, because a node without the newest ledger does
 * not know everything that the call may need.
 */
export async function simulate<T>(
  context: SimulationContext,
  tx: Transaction,
  deciding: Deciding<T>,
): Promise<Answer<T>> {
  const { client, simulations } = context
  if (client.states().length < 2) {
    const newest = newestKnown(client)
    const [endpointReply] = await client.sendAsOf([callOf(tx)], newest)
    const { answer, behind } = readOpinion(endpointReply, newest)
    const decided = answer.kind === 'ok' ? deciding.decide(answer.value) : answer
    if (decided.kind !== 'refused') return decided
    if (behind) return BEHIND
  }
  const opinions = agreedSimulation(await askOpinions(client, tx), deciding)
  return simulations.settle(contentOf(tx), opinions)
}

async function askOpinions(
  client: PooledClient,
  tx: Transaction,
): Promise<readonly SimulationOpinion<Simulation>[]> {
  const { told, silence } = await askEveryone<SimulationOpinion<Simulation>>(client, {
    calls: [callOf(tx)],
    read: ([endpointReply]) => {
      const opinion = readOpinion(
        endpointReply && { ...endpointReply, behind: false },
        endpointReply?.head ?? 0n,
      )
      return opinion.answer.kind === 'unknown' ? opinion.answer : { kind: 'ok', value: opinion }
    },
    // An answer as of an old ledger, or of none, does not spare the question to another endpoint.
    isSame: (one, other) => {
      if ([one, other].some(({ behind, head }) => behind || head === undefined)) return false
      return one.answer.kind === 'ok' && other.answer.kind === 'ok'
        ? isSameSimulation(one.answer.value, other.answer.value)
        : one.answer.kind === other.answer.kind
    },
  })
  const silent: SimulationOpinion<Simulation> = {
    answer: { kind: 'unknown', detail: silence },
    head: undefined,
    behind: true,
  }
  const others = client.states().slice(told.length)
  const opinions = told.map(({ value, behind }) => ({ ...value, behind: behind || value.behind }))
  // If no endpoint has the newest ledger that one of them told, there may be no such ledger: a success then
  // counts, and a refusal does not.
  const isHeadDoubtful = opinions.every(({ behind }) => behind)
  const counted = opinions.map((opinion) =>
    isHeadDoubtful && opinion.answer.kind === 'ok' ? { ...opinion, behind: false } : opinion,
  )
  return [...counted, ...others.map(() => silent)]
}

/**
 * Gives every success the same decision, by the simulation that most endpoints agree on. Of two that differ,
 * the one counts that leaves the call more, because the network returns what it does not use; but not one
 * that the caller would not pay.
 */
function agreedSimulation<T>(
  opinions: readonly SimulationOpinion<Simulation>[],
  { decide, most }: Deciding<T>,
): readonly SimulationOpinion<T>[] {
  const isAffordable = ({ resourceFee }: Simulation) => most === undefined || withMargin(resourceFee) <= most
  const [first, ...others] = opinions
    .flatMap(({ answer, behind }) => (answer.kind === 'ok' && !behind ? [answer.value] : []))
    .toSorted((one, other) => (one.resourceFee > other.resourceFee ? -1 : 1))
    .toSorted((one, other) => Number(isAffordable(other)) - Number(isAffordable(one)))
  const decided = first && decide(mostAgreed([first, ...others], isSameSimulation))
  return opinions.map((opinion) => {
    const { answer } = opinion
    if (answer.kind !== 'ok') return { ...opinion, answer }
    return { ...opinion, answer: decided ?? decide(answer.value) }
  })
}

/**
 * Nodes choose the nonces of authorizations at random, and their ledgers may differ by one, so the rest is
 * compared.
 */
function isSameSimulation(one: Simulation, other: Simulation): boolean {
  const [needs, others] = [one.data.resources, other.data.resources]
  return (
    isNear(one.resourceFee, other.resourceFee) &&
    isNear(BigInt(needs.instructions), BigInt(others.instructions)) &&
    isNear(BigInt(needs.diskReadBytes), BigInt(others.diskReadBytes), NEGLIGIBLE_BYTES) &&
    isNear(BigInt(needs.writeBytes), BigInt(others.writeBytes), NEGLIGIBLE_BYTES) &&
    needs.footprint.toXdr('base64') === others.footprint.toXdr('base64') &&
    one.restore?.resources.footprint.toXdr('base64') === other.restore?.resources.footprint.toXdr('base64') &&
    invocationsIn(one).join() === invocationsIn(other).join()
  )
}

/** A difference of these bytes costs next to nothing. */
const NEGLIGIBLE_BYTES = 256n

function invocationsIn({ auth }: Simulation): readonly string[] {
  return auth.map(({ credentials, rootInvocation }) => credentials.type + rootInvocation.toXdr('base64'))
}

function callOf(tx: Transaction): RpcCall {
  return { method: 'simulateTransaction', params: { transaction: closeEnvelope(tx) } }
}

/**
 * The simulation depends on this alone. Fee, time bounds and sequence number differ each time and have no
 * effect on it.
 */
function contentOf({ sourceAccount, operations }: Transaction): readonly string[] {
  return [underlying(sourceAccount), ...operations.map((operation) => operation.toXdr('base64'))]
}

/** `latestLedger` in the answer is the ledger of the simulation. */
function readOpinion(
  endpointReply: EndpointReply | undefined,
  newest: bigint,
): SimulationOpinion<Simulation> {
  const fields = fieldsOf(endpointReply?.reply)
  if (fields.kind !== 'ok') return { answer: fields, head: undefined, behind: true }
  return {
    answer: readSimulation(fields.value),
    head: readInteger(fields.value.latestLedger),
    behind: endpointReply?.behind !== false || isBehind(fields.value, newest),
  }
}

function readSimulation({
  error,
  transactionData,
  minResourceFee,
  results,
  restorePreamble,
  events,
}: Readonly<Record<string, unknown>>): Answer<Simulation> {
  if (typeof error === 'string') {
    const detail = reasonOf(error)
    return FAULT_OF_CALL.test(error)
      ? { kind: 'refused', refusal: { code: 'execution_reverted', detail } }
      : { kind: 'unknown', detail }
  }
  const [data, resourceFee, auth] = [
    readData(transactionData),
    readInteger(minResourceFee),
    readAuth(results),
  ]
  if (data === undefined || resourceFee === undefined || resourceFee < 0n || auth === undefined) return NONE
  const simulation = { data, resourceFee, auth, events: readEvents(events) }
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

/** Returns the node's message up to its log: `HostError: Error(Contract, #10)`. */
function reasonOf(error: string): string {
  const [reason = ''] = error.split(/\n\s*\n|\nEvent log/)
  return `The simulation failed: ${reason.replace(/\s+/g, ' ').trim().slice(0, MAX_REASON)}`
}

function readData(base64: unknown): SorobanTransactionData | undefined {
  if (typeof base64 !== 'string') return undefined
  try {
    return SorobanTransactionData.fromXdr(base64, 'base64')
  } catch {
    return undefined // The SDK throws: not XDR, or not of this kind.
  }
}

/** The reply has one result for the one operation; none for operations that only restore or extend. */
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

/** An event that cannot be read proves nothing. */
function readEvents(events: unknown): readonly ContractEvent[] {
  if (!Array.isArray(events)) return []
  return (events as readonly unknown[]).flatMap((event) => {
    try {
      const { inSuccessfulContractCall, event: emitted } = DiagnosticEvent.fromXdr(String(event), 'base64')
      return inSuccessfulContractCall && emitted.type === ContractEventType.contract ? [emitted] : []
    } catch {
      return [] // As above.
    }
  })
}

function preambleIn(preamble: unknown): string | undefined {
  const { transactionData } = (preamble ?? {}) as { transactionData?: unknown }
  return typeof transactionData === 'string' && transactionData !== '' ? transactionData : undefined
}

/**
 * The margin on the resource fee, in percent: rent and the size of the entries may grow until the ledger
 * closes. The network returns the unused part of it (CAP-46-07, "refundable fee").
 */
const RESOURCE_MARGIN_PERCENT = 15n

/** Ready content, or the entries that have to be restored first. */
type Assembled =
  | { readonly kind: 'ready'; readonly tx: Transaction }
  | { readonly kind: 'restore'; readonly transactionData: string }

/** Returns true for a transaction of smart contracts. */
export function isSorobanTransaction({ operations }: Transaction): boolean {
  const [first] = operations
  return (
    first?.body.type === 'invokeHostFunction' ||
    first?.body.type === 'extendFootprintTtl' ||
    first?.body.type === 'restoreFootprint'
  )
}

/** Adds the resources, the resource fee and the authorization that a simulation found necessary. */
export async function assemble(
  context: SimulationContext,
  tx: Transaction,
  { auth, most, payment }: Assembling,
): Promise<Answer<Assembled>> {
  const decide = (simulation: Simulation) =>
    (payment && underpaid(simulation, payment)) ?? assembleBy(simulation, tx, auth)
  return simulate(context, tx, { decide, most })
}

interface Assembling {
  readonly auth: SorobanAuth | undefined
  /** The most that the resources may cost, in stroops. */
  readonly most: bigint
  /** The payment of a user that the call contains. */
  readonly payment?: FeePayment | undefined
}

/** Refuses a call in which the relayer does not get what the user pays for it. */
function underpaid(
  simulation: Simulation,
  { token, receiver, amount }: FeePayment,
): Answer<never> | undefined {
  if (simulation.restore !== undefined) return undefined
  const paid = paidIn(simulation.events, { token, receiver })
  if (paid >= amount) return undefined
  const detail = `transaction_xdr: in the simulation the relayer would be paid ${paid} of ${amount} base units of the fee token.`
  return { kind: 'refused', refusal: { code: 'fee_payer_at_risk', detail } }
}

function assembleBy(
  simulation: Simulation,
  tx: Transaction,
  auth: SorobanAuth | undefined,
): Answer<Assembled> {
  const { restore } = simulation
  if (restore !== undefined) {
    const refusal = tooDear(restore)
    if (refusal) return { kind: 'refused', refusal }
    return { kind: 'ok', value: { kind: 'restore', transactionData: restore.toXdr('base64') } }
  }
  const refusal = missingAuth(tx, simulation.auth, auth) ?? tooDear(simulation)
  if (refusal) return { kind: 'refused', refusal }
  const operations = tx.operations.map((operation) => withAuth(operation, simulation))
  const last = lastLedgerOf(operations)
  // After the last ledger of an authorization the call would fail at the relayer's cost, so no later ledger
  // may include it.
  const bounded = last === undefined ? {} : { cond: withLastLedger(tx.cond, last) }
  const filled = withResources(
    withFields(tx, { operations, ...bounded }),
    simulation.data,
    simulation.resourceFee,
  )
  return { kind: 'ok', value: { kind: 'ready', tx: filled } }
}

/**
 * Returns the last ledger in which every authorization that someone has signed counts; undefined if there is
 * none.
 */
function lastLedgerOf(operations: readonly Operation[]): number | undefined {
  const signed = operations
    .flatMap(({ body }) => (body.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.auth : []))
    .flatMap(({ credentials }) => signerIn(credentials) ?? [])
    .filter(({ signature }) => signature.type !== 'scvVoid')
  if (signed.length === 0) return undefined
  return Math.min(...signed.map(({ signatureExpirationLedger }) => signatureExpirationLedger))
}

/** Returns the signer of an authorization, in any form (CAP-71); undefined for the source account. */
function signerIn(credentials: SorobanCredentials): SorobanAddressCredentials | undefined {
  switch (credentials.type) {
    case 'sorobanCredentialsAddress':
      return credentials.address
    case 'sorobanCredentialsAddressV2':
      return credentials.addressV2
    case 'sorobanCredentialsAddressWithDelegates':
      return credentials.addressWithDelegates.addressCredentials
    default:
      return undefined
  }
}

/** Returns the transaction with these resources and their fee, margin included. */
export function withResources(
  tx: Transaction,
  { ext, resources }: SorobanTransactionData,
  minResourceFee: bigint,
): Transaction {
  const resourceFee = withMargin(minResourceFee)
  const data = new SorobanTransactionData({ ext, resources, resourceFee })
  return withFields(tx, { ext: TransactionExt.sorobanData(data) })
}

function withMargin(minResourceFee: bigint): bigint {
  return (minResourceFee * (100n + RESOURCE_MARGIN_PERCENT) + 99n) / 100n
}

/**
 * Returns an authorization that the service cannot sign. The signature under the transaction is the source's
 * own agreement; where the caller sent entries, the node has run the call with them and with no others.
 */
function missingAuth(
  { operations }: Transaction,
  found: readonly SorobanAuthorizationEntry[],
  auth: SorobanAuth | undefined,
): Refusal | undefined {
  if (found.length === 0 || operations.some(hasEntries)) return undefined
  if (auth?.type === 'none') {
    return reverted('operations[0].auth: the call requires an authorization, so none is not enough.')
  }
  return found.some(({ credentials }) => credentials.type !== 'sorobanCredentialsSourceAccount')
    ? reverted(
        "operations[0].auth: the call requires authorizations of accounts other than the relayer's; pass their signed entries as xdr.",
      )
    : undefined
}

function reverted(detail: string): Refusal {
  return { code: 'execution_reverted', detail }
}

/** The whole fee must fit into a transaction, and a part of it must remain for inclusion. */
function tooDear({ resourceFee }: Pick<Simulation, 'resourceFee'>): Refusal | undefined {
  if (resourceFee * 2n <= MAX_PLAIN_FEE) return undefined
  const detail = `The resources of this call cost ${resourceFee} stroops, more than a transaction can pay.`
  return { code: 'fee_above_cap', detail }
}

function hasEntries({ body }: Operation): boolean {
  return body.type === 'invokeHostFunction' && body.invokeHostFunctionOp.auth.length > 0
}

/** Entries of the caller stay unchanged; the node has run the call with them. */
function withAuth(operation: Operation, { auth }: Simulation): Operation {
  const { body, sourceAccount } = operation
  if (body.type !== 'invokeHostFunction' || hasEntries(operation)) return operation
  const { hostFunction } = body.invokeHostFunctionOp
  const invocation = new InvokeHostFunctionOp({ hostFunction, auth: [...auth] })
  return new Operation({ sourceAccount, body: OperationBody.invokeHostFunction(invocation) })
}
