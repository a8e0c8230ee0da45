import { StrKey } from '@stellar/stellar-sdk/base'
import {
  type ContractEvent,
  ContractEventType,
  type OperationResult,
  type Transaction,
  TransactionEventStage,
  TransactionMeta,
  TransactionResult,
  type TransactionResultCodeName,
} from '@stellar/stellar-sdk/xdr'
import { omitUndefined } from '../../../lib/object.ts'
import { fromUnixSeconds } from '../../../lib/time.ts'
import {
  type Answer,
  type EmittedIn,
  type Freshness,
  type Receipt,
  type ReceiptAnswer,
  type StellarEvent,
  takeWithin,
} from '../../answer.ts'
import type { Attempt, ChargedFee, InclusionDetails } from '../../attempt.ts'
import type { Transfers } from '../../effects.ts'
import type { EndpointReply, PooledClient, RpcCall } from '../../rpc/rpc.ts'
import type { FeePayment } from '../../sponsoring.ts'
import { showScVal } from '../contract-spec/show-value.ts'
import { operationsIn } from '../effects/effects.ts'
import { movedIn } from '../effects/moved.ts'
import { arrivedIn } from '../effects/paid-in.ts'
import { hashFeeBump, hashTransaction, readEnvelope } from '../model/envelope.ts'
import { underlying } from '../model/strkey.ts'
import { fieldsOf, isBehind, ledgerHash, readInteger } from '../read/replies.ts'

/** The hashes, the network, and the demanded freshness. */
interface ReceiptQuestion extends Freshness {
  readonly hashes: readonly string[]
  readonly passphrase: string
}

/**
 * Reads receipts in the order of the hashes. A node's yes always counts; its no counts only when it has
 * reached `asOf` and remembers back to `since`.
 */
export async function readReceipts(
  client: PooledClient,
  { hashes, ...terms }: ReceiptQuestion,
): Promise<ReceiptAnswer[]> {
  const endpointReplies = await client.sendAsOf(hashes.map(receiptCall), terms.asOf)
  return hashes.map((hash, index) => toReceiptAnswer(readLookup(hash, endpointReplies[index], terms)))
}

/** Reads receipts from every endpoint, each in the order of the hashes. */
export async function readReceiptsEverywhere(
  client: PooledClient,
  { hashes, ...terms }: ReceiptQuestion,
): Promise<ReceiptAnswer[][]> {
  const endpoints = await client.sendEverywhere(hashes.map(receiptCall), terms.asOf)
  return endpoints.map((replies) =>
    hashes.map((hash, index) => toReceiptAnswer(readLookup(hash, replies[index], terms))),
  )
}

/**
 * The answer of one endpoint about a hash. `not_found` proves absence only when the endpoint has reached
 * `asOf` (`reached`) and remembers back to `since` (`remembers`). `silent`: the answer is missing or
 * unreadable.
 */
export type LookupResult =
  | { readonly kind: 'included'; readonly receipt: Receipt }
  | { readonly kind: 'not_found'; readonly reached: boolean; readonly remembers: boolean }
  | { readonly kind: 'silent' }

/** The context for reading a reply. */
export type Terms = Omit<ReceiptQuestion, 'hashes'>

function toReceiptAnswer(result: LookupResult): ReceiptAnswer {
  if (result.kind === 'included') return result
  return { kind: result.kind === 'not_found' && result.reached && result.remembers ? 'none' : 'unknown' }
}

/** Looks up a transaction by its own hash, or by the hash of its inner transaction. */
export function receiptCall(hash: string): RpcCall {
  return { method: 'getTransaction', params: { hash } }
}

/** Reads a reply to `receiptCall`. */
export function readLookup(
  hash: string,
  endpointReply: EndpointReply | undefined,
  { asOf, since, passphrase }: Terms,
): LookupResult {
  const fields = fieldsOf(endpointReply?.reply)
  if (fields.kind !== 'ok') return { kind: 'silent' }
  const { value } = fields
  if (value.status === 'NOT_FOUND') {
    const reached = endpointReply?.behind === false && !isBehind(value, asOf)
    return { kind: 'not_found', reached, remembers: remembers(value, since) }
  }
  const receipt = readReceipt(hash, value, passphrase)
  return receipt === undefined ? { kind: 'silent' } : { kind: 'included', receipt }
}

/**
 * Ledger 1 is the genesis, which contains nothing: a node that begins here has every transaction of its
 * network.
 */
const FIRST_WITH_TRANSACTIONS = 2n

/**
 * A node keeps ledgers for a limited time (a day, a week) and cannot find older transactions. Close times are
 * whole seconds, which several ledgers may share (CAP-88): a node whose oldest ledger closed in the second of
 * `since` may have lost others of that second.
 */
function remembers(
  { oldestLedger, oldestLedgerCloseTime }: Readonly<Record<string, unknown>>,
  since: Date | undefined,
): boolean {
  if (since === undefined) return true
  const first = readInteger(oldestLedger)
  if (first !== undefined && first <= FIRST_WITH_TRANSACTIONS) return true
  const oldest = readInteger(oldestLedgerCloseTime)
  return oldest !== undefined && Number(oldest) < Math.floor(since.getTime() / 1_000)
}

/** The content of a ledger is final: nothing later can undo it (SCP). */
function readReceipt(
  hash: string,
  fields: Readonly<Record<string, unknown>>,
  passphrase: string,
): Receipt | undefined {
  const { status, ledger, createdAt, envelopeXdr, resultXdr, resultMetaXdr } = fields
  const number = readInteger(ledger)
  if (number === undefined || (status !== 'SUCCESS' && status !== 'FAILED')) return undefined
  const result = readResult(resultXdr)
  const facts = typeof envelopeXdr === 'string' ? readFacts(envelopeXdr, passphrase) : undefined
  const meta = readMeta(resultMetaXdr)
  const moved = status === 'SUCCESS' ? movedOf(hash, { facts, result, meta }) : undefined
  return omitUndefined({
    hash,
    blockNumber: number,
    blockHash: ledgerHash(number),
    blockTime: fromUnixSeconds(readInteger(createdAt)),
    success: status === 'SUCCESS',
    final: true,
    failure: status === 'FAILED' && result !== undefined ? describeResult(result) : undefined,
    result: omitUndefined({
      feeCharged: result?.feeCharged as ChargedFee | undefined,
      appliedHash: facts?.hash,
      feeAccount: facts?.feeAccount,
      resultXdr: typeof resultXdr === 'string' ? resultXdr : undefined,
      returnValueXdr: meta && returnValueOf(meta),
      moved: moved?.transfers,
      movedMore: moved?.truncated ? (true as const) : undefined,
    }),
  })
}

/** The answer of a node about a transaction. */
interface Told {
  readonly facts: EnvelopeFacts | undefined
  readonly result: TransactionResult | undefined
  readonly meta: TransactionMeta | undefined
}

/** Reads what the transaction with this hash moved; undefined where the node did not tell it. */
function movedOf(hash: string, { facts, result, meta }: Told): Transfers | undefined {
  if (facts === undefined || (facts.hash !== hash && facts.innerHash !== hash)) return undefined
  const outcome = result && outcomeOf(result.result)
  if (outcome?.type !== 'txSuccess') return undefined
  return movedIn({ operations: operationsIn(facts.tx), results: outcome.results, meta })
}

/**
 * Reads the return value of a smart contract, which protocols 20 to 22 store in version 3 of the meta data
 * and later ones in version 4.
 */
function returnValueOf(meta: TransactionMeta): string | undefined {
  return sorobanMetaOf(meta)?.returnValue?.toXdr('base64')
}

function sorobanMetaOf(meta: TransactionMeta) {
  return meta.type === 'v3' ? meta.v3.sorobanMeta : meta.type === 'v4' ? meta.v4.sorobanMeta : null
}

function readMeta(base64: unknown): TransactionMeta | undefined {
  if (typeof base64 !== 'string') return undefined
  try {
    return TransactionMeta.fromXdr(base64, 'base64')
  } catch {
    return undefined // Meta data of a later protocol than the SDK knows: the inclusion still counts.
  }
}

/**
 * Reads what the transaction with this hash emitted. Meta data of a later protocol than the SDK knows is no
 * answer.
 */
export async function readEmitted(client: PooledClient, hash: string): Promise<Answer<EmittedIn>> {
  const [endpointReply] = await client.sendAsOf([receiptCall(hash)])
  const fields = fieldsOf(endpointReply?.reply)
  if (fields.kind !== 'ok') return fields
  const { status, ledger, resultMetaXdr } = fields.value
  const number = readInteger(ledger)
  if (number === undefined || (status !== 'SUCCESS' && status !== 'FAILED'))
    return { kind: 'unknown', detail: 'the endpoint does not know it' }
  const meta = readMeta(resultMetaXdr)
  if (meta === undefined) return { kind: 'unknown', detail: 'the endpoint told no readable meta data' }
  const returned = sorobanMetaOf(meta)?.returnValue
  const values = takeWithin(returned ? [returned] : [], (value) => value.toXdr('base64').length)
  const events = takeWithin(eventsOf(meta), (event) => event.toXdr('base64').length)
  const [returnValue] = values.taken.map(showScVal)
  return {
    kind: 'ok',
    value: {
      blockHash: ledgerHash(number),
      success: status === 'SUCCESS',
      emitted: { type: 'stellar', returnValue, events: events.taken.map(showEvent) },
      truncated: values.truncated || events.truncated,
    },
  }
}

/**
 * Reads what a payment of included content brought, from the meta data of its ledger; empty where the
 * endpoint does not tell it.
 */
export async function readReceived(
  client: PooledClient,
  { hash, blockNumber, success, result }: Receipt,
  payment: FeePayment | undefined,
): Promise<InclusionDetails> {
  if (payment === undefined || !success) return {}
  const [endpointReply] = await client.sendAsOf([receiptCall(hash)])
  const fields = fieldsOf(endpointReply?.reply)
  if (fields.kind !== 'ok' || readInteger(fields.value.ledger) !== blockNumber) return {}
  const meta = readMeta(fields.value.resultMetaXdr)
  const received = meta && arrivedIn(meta, eventsOf(meta), payment)
  return received === undefined ? {} : { result: { ...result, received } }
}

/**
 * Gives the events in the order of their emission: protocols from 23 on have those of each operation, and
 * those of the fee around them (CAP-67).
 */
function eventsOf(meta: TransactionMeta): readonly ContractEvent[] {
  if (meta.type === 'v3') return meta.v3.sorobanMeta?.events ?? []
  if (meta.type !== 'v4') return []
  const { events, operations } = meta.v4
  const isBefore = ({ stage }: (typeof events)[number]) =>
    stage === TransactionEventStage.transactionEventStageBeforeAllTxs
  return [
    ...events.filter(isBefore).map(({ event }) => event),
    ...operations.flatMap((operation) => operation.events),
    ...events.filter((one) => !isBefore(one)).map(({ event }) => event),
  ]
}

function showEvent({ contractId, type, body }: ContractEvent): StellarEvent {
  const { topics, data } = body.v0
  return omitUndefined({
    type: type === ContractEventType.system ? ('system' as const) : ('contract' as const),
    contractId: contractId === null ? undefined : StrKey.encodeContract(contractId.toBytes()),
    topics: topics.map(showScVal),
    data: showScVal(data),
  })
}

/** Facts that an envelope contains. Hashes are in hex. */
interface EnvelopeFacts {
  /** The hash that identifies it in the network. */
  readonly hash: string
  /** The hash of the transaction inside a fee bump. */
  readonly innerHash?: string
  /** The account (`G…`) that pays its fee. */
  readonly feeAccount: string
  /** The transaction, or the one inside the fee bump. */
  readonly tx: Transaction
}

/**
 * Returns the hashes under which a ledger can contain an attempt: its own, and that of the transaction inside
 * its fee bump. Nothing ties the inner transaction to its payer (stellar-core `FeeBumpTransactionFrame`), and
 * stellar-rpc finds transactions by both hashes (`db/transaction.go`). A plain transaction that another party
 * wraps is found by its own hash, which is then the inner one.
 */
export function hashesOf({ signed: { hash, innerHash } }: Pick<Attempt, 'signed'>): readonly string[] {
  return innerHash === undefined ? [hash] : [hash, innerHash]
}

/** Reads a signed envelope, XDR in base64; undefined for other text. */
function readFacts(base64: string, passphrase: string): EnvelopeFacts | undefined {
  const read = readEnvelope(base64)
  if (read === undefined) return undefined
  if (read.kind === 'transaction') {
    const { tx } = read.envelope
    return { hash: hex(hashTransaction(tx, passphrase)), feeAccount: underlying(tx.sourceAccount), tx }
  }
  const inner = read.tx.innerTx.v1.tx
  return {
    hash: hex(hashFeeBump(read.tx, passphrase)),
    innerHash: hex(hashTransaction(inner, passphrase)),
    feeAccount: underlying(read.tx.feeSource),
    tx: inner,
  }
}

function hex(hash: Buffer): string {
  return hash.toString('hex')
}

/** Reads a `TransactionResult`, XDR in base64; undefined for other text. */
export function readResult(base64: unknown): TransactionResult | undefined {
  if (typeof base64 !== 'string') return undefined
  try {
    return TransactionResult.fromXdr(base64, 'base64')
  } catch {
    return undefined // The SDK throws: not XDR, or not of this kind.
  }
}

/**
 * Returns the network's code for the transaction itself: for the inner one, where a fee bump failed because
 * of it.
 */
export function codeOf({ result }: TransactionResult): TransactionResultCodeName {
  return outcomeOf(result).type
}

/** Describes a result: the code, and the index and code of each failed operation. */
export function describeResult({ result }: TransactionResult): string {
  const outcome = outcomeOf(result)
  if (outcome.type !== 'txFailed') return spelled(outcome.type)
  const failed = outcome.results
    .map((one, index) => ({ at: index, code: operationCode(one) }))
    .filter(({ code }) => !code.endsWith('Success'))
    .map(({ at, code }) => `operations[${at}] ${spelled(code)}`)
  return [spelled(outcome.type), ...failed].join(', ')
}

function outcomeOf(result: TransactionResult['result']) {
  const wrapped = result.type === 'txFeeBumpInnerFailed' || result.type === 'txFeeBumpInnerSuccess'
  return wrapped ? result.innerResultPair.result.result : result
}

/**
 * Returns the code of the operation's own kind (`paymentUnderfunded`), or the reason why it was not tried
 * (`opBadAuth`).
 */
function operationCode(result: OperationResult): string {
  return result.type === 'opInner' ? result.tr.value.type : result.type
}

/**
 * Spells `paymentNoTrust` as `payment_no_trust`, the name in the protocol's XDR, which people can look up.
 */
function spelled(code: string): string {
  return code.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
