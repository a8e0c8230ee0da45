import {
  type Asset,
  type Operation,
  type OperationBody,
  Preconditions,
  SorobanTransactionData,
  Transaction,
  TransactionExt,
} from '@stellar/stellar-sdk/xdr'
import { larger, smaller } from '../../../lib/bigint.ts'
import { omitUndefined } from '../../../lib/object.ts'
import type { Answer } from '../../answer.ts'
import type { SetupRequired } from '../../attempt.ts'
import type { FeePayment } from '../../sponsoring.ts'
import { checkExternallySigned } from '../check/externally-signed.ts'
import type { StellarDraft, StellarRequest, UnixSeconds } from '../content.ts'
import { encodeMemo, encodeOperation } from '../encode.ts'
import {
  closeEnvelope,
  maxLedgerOf,
  maxTimeOf,
  openEnvelope,
  resourceFeeOf,
  withFields,
  withMaxTime,
} from '../model/envelope.ts'
import { isSoroban } from '../model/operation.ts'
import { isAccountId, toMuxedAccount, underlying } from '../model/strkey.ts'
import type { MemoRequirements } from '../read/memo-required.ts'
import { readAgreedHead } from '../read/replies.ts'
import type { StellarAccount, StellarPrepared } from '../types.ts'
import {
  aboveBudget,
  type Bid,
  type BidOptions,
  budgetOf,
  chooseBid,
  type Market,
  MIN_FEE_PER_OPERATION,
} from './fees.ts'
import { assemble, isSorobanTransaction, type SimulationContext, withResources } from './simulate.ts'

export interface PrepareContext extends SimulationContext {
  readonly market: () => Promise<Answer<Market>>
  readonly passphrase: string
  readonly memos: MemoRequirements
  /** Refuses a payment of a user that the ledger would not execute now. */
  readonly refusePayer: (payment: FeePayment) => Promise<Answer<undefined>>
}

/** Content without its bid. */
export type Content = Omit<StellarDraft, 'feePerOperation' | 'bumped' | 'maxFee'>

/** Content without the time at which it was prepared. */
type UndatedContent = Omit<Content, 'preparedAt'>

/** Prepares fees, expiry and resources of a new transaction. */
export async function prepareDraft(
  context: PrepareContext,
  request: StellarRequest,
  account: StellarAccount,
): Promise<Answer<StellarPrepared> | SetupRequired<StellarRequest>> {
  const market = await context.market()
  if (market.kind !== 'ok') return market
  const content = await prepareContent(context, {
    request,
    account,
    closeTime: market.value.closeTime,
  })
  if (content.kind !== 'ok') return content
  const { content: bare, included } = content.value
  const wish = bidOptionsFor(bare, market.value, budgetOf(request, account))
  const bid = chooseBid(wish)
  if (bid.kind === 'short') return { kind: 'refused', refusal: aboveBudget(bid.needed, wish.maxFee) }
  const bumped = bare.externallySigned
  const { feePerOperation } = bid
  const draft: StellarDraft = { ...bare, feePerOperation, bumped, maxFee: wish.maxFee }
  return { kind: 'ok', value: omitUndefined({ draft, logs: logsOf(bid), included }) }
}

interface Wanted {
  readonly request: StellarRequest
  readonly account: StellarAccount
  /**
   * The close time of the newest ledger, in Unix seconds. Transactions expire by its clock and not by ours.
   */
  readonly closeTime: UnixSeconds
}

/** Content without its bid, and the sentence of `Prepared.included`. */
interface FoundContent<C extends UndatedContent> {
  readonly content: C
  readonly included?: string
}

/**
 * Prepares the content of a request for the current ledger; returns a setup transaction if entries must be
 * restored first.
 */
export async function prepareContent(
  context: PrepareContext,
  wanted: Wanted,
): Promise<Answer<FoundContent<Content>> | SetupRequired<StellarRequest>> {
  const answer = await composeContent(context, wanted)
  if (answer.kind !== 'ok') return answer
  const content = { ...answer.value.content, preparedAt: wanted.closeTime }
  return { kind: 'ok', value: { ...answer.value, content } }
}

async function composeContent(
  context: PrepareContext,
  { request, account, closeTime }: Wanted,
): Promise<Answer<FoundContent<UndatedContent>> | SetupRequired<StellarRequest>> {
  if (request.feeBump === true) return composeExternallySigned(context, request, account)
  const tx = composeTransaction(request, account, closeTime)
  if (!isSorobanTransaction(tx)) return composeClassic(context, request, tx, account)
  const operation = request.operations?.[0]
  if (operation?.type === 'restore_footprint') {
    const data = SorobanTransactionData.fromXdr(operation.transaction_data, 'base64')
    return { kind: 'ok', value: { content: ownContent(withResources(tx, data, data.resourceFee), account) } }
  }
  const auth = operation !== undefined && isSoroban(operation) ? operation.auth : undefined
  const { payment } = request
  const late = payment && (await refuseEnding(context, tx))
  if (late) return late
  const answer = await assemble(context, tx, { auth, most: budgetOf(request, account), payment })
  if (answer.kind !== 'ok') return answer
  if (answer.value.kind === 'restore')
    return request.payment === undefined
      ? restoreFirst(request, answer.value.transactionData)
      : UNPAID_RESTORE
  return { kind: 'ok', value: { content: ownContent(answer.value.tx, account) } }
}

/**
 * A call whose user pays needs this many ledgers after the newest one: it is simulated as of that one, sent,
 * and included in a later one.
 */
const LEDGERS_TO_INCLUDE = 3n

/**
 * Refuses a call whose authorization ends before a ledger can include it. Nodes would refuse it too, after it
 * was accepted.
 */
async function refuseEnding({ client }: PrepareContext, tx: Transaction): Promise<Answer<never> | undefined> {
  const maxLedger = maxLedgerOf(tx)
  if (maxLedger === undefined) return undefined
  const head = await readAgreedHead(client)
  if (head.kind !== 'ok') return head
  const least = head.value.number + LEDGERS_TO_INCLUDE
  if (maxLedger > least) return undefined
  const detail = `signed_auth_entry: an authorization that is valid at least until ledger ${least} is expected, not only until ${maxLedger - 1n}.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

async function composeClassic(
  { memos }: PrepareContext,
  { transactionXdr }: StellarRequest,
  tx: Transaction,
  account: StellarAccount,
): Promise<Answer<FoundContent<UndatedContent>>> {
  const found = await memos.receiverWithout(tx)
  if (found.kind !== 'ok') return found
  if (found.value === undefined) return { kind: 'ok', value: { content: ownContent(tx, account) } }
  const field = transactionXdr === undefined ? 'memo' : 'transaction_xdr'
  const detail = `${field}: a memo is expected, because ${found.value} accepts payments only with one (config.memo_required, SEP-29).`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

async function composeExternallySigned(
  { client, passphrase, refusePayer }: PrepareContext,
  { transactionXdr: envelope = '', payment }: StellarRequest,
  account: StellarAccount,
): Promise<Answer<FoundContent<UndatedContent>>> {
  const found = await checkExternallySigned(client, envelope, passphrase)
  if (found.kind !== 'ok') return found
  const payer = payment === undefined || found.value !== undefined ? undefined : await refusePayer(payment)
  if (payer !== undefined && payer.kind !== 'ok') return payer
  const content = externallySignedContent(envelope, account)
  return { kind: 'ok', value: omitUndefined({ content, included: found.value }) }
}

/** Returns the demands and limits of a bid for this content. */
export function bidOptionsFor(content: Content, market: Market, maxFee: bigint): BidOptions {
  const { operationCount, resourceFee } = content
  return {
    market: resourceFee > 0n ? market.soroban : market.classic,
    least: leastOf(content),
    operationCount,
    resourceFee,
    maxFee,
  }
}

/** The rate of a fee bump must be at least that of its inner transaction (CAP-15). */
function leastOf({ externallySigned, envelope, operationCount, resourceFee }: Content): bigint {
  if (!externallySigned) return MIN_FEE_PER_OPERATION
  const inclusionFee = BigInt(openEnvelope(envelope).tx.fee) - resourceFee
  const count = BigInt(operationCount)
  return larger(MIN_FEE_PER_OPERATION, (inclusionFee + count - 1n) / count)
}

/** Informs the caller if the budget is below the market. */
export function logsOf(bid: Extract<Bid, { kind: 'bid' }>): string[] {
  if (bid.feePerOperation >= bid.wanted) return []
  return [
    `The market price (${bid.wanted} stroops for each operation) is above the limit of max_fee; the transaction bids ${bid.feePerOperation}.`,
  ]
}

function ownContent(tx: Transaction, { address }: StellarAccount): UndatedContent {
  return { ...contentOf(tx, address), envelope: closeEnvelope(tx), externallySigned: false }
}

function externallySignedContent(envelope: string, { address }: StellarAccount): UndatedContent {
  return { ...contentOf(openEnvelope(envelope).tx, address), envelope, externallySigned: true }
}

function contentOf(tx: Transaction, account: string): Omit<UndatedContent, 'envelope' | 'externallySigned'> {
  return omitUndefined({
    type: 'stellar' as const,
    operationCount: tx.operations.length,
    resourceFee: resourceFeeOf(tx),
    spends: nativeOutflow(tx.operations, underlying(tx.sourceAccount), account),
    expiresAt: maxTimeOf(tx),
    maxLedger: maxLedgerOf(tx),
  })
}

/** A user pays for one transaction, and the entries were alive when it was built. */
const UNPAID_RESTORE: Answer<never> = {
  kind: 'refused',
  refusal: {
    code: 'execution_reverted',
    detail:
      'transaction_xdr: the call needs archived entries, whose restoration is not paid for; restore them, and build it again.',
  },
}

function restoreFirst(
  { network, maxFee }: StellarRequest,
  transactionData: string,
): SetupRequired<StellarRequest> {
  const operations = [{ type: 'restore_footprint', transaction_data: transactionData }] as const
  return {
    kind: 'setup',
    request: { type: 'stellar', network, operations, ...(maxFee === undefined ? {} : { maxFee }) },
    detail: 'The service restores the archived entries that the contract call needs.',
  }
}

/** A signed version waits this long for its ledger by default, in seconds: about twenty ledgers. */
const DEFAULT_TIMEOUT_SECONDS = 120

/**
 * Builds the transaction of a request that the service signs: the relayer is its source, fee and sequence
 * number are 0, and it always expires. `closeTime` belongs to the newest ledger, in Unix seconds.
 */
export function composeTransaction(
  request: StellarRequest,
  account: StellarAccount,
  closeTime: UnixSeconds,
): Transaction {
  const bare =
    request.transactionXdr === undefined ? fromOperations(request, account) : fromXdr(request.transactionXdr)
  return withFields(bare, { cond: withMaxTime(bare.cond, endOf(request, bare, account, closeTime)) })
}

function fromOperations(
  { operations = [], sourceAccount, memo }: StellarRequest,
  { address }: StellarAccount,
) {
  // The operations contain the muxed number of the relayer's account, because the transaction's source may
  // become a channel.
  const muxed = sourceAccount !== undefined && !isAccountId(sourceAccount)
  const source = muxed ? toMuxedAccount(sourceAccount) : undefined
  return new Transaction({
    sourceAccount: toMuxedAccount(address),
    fee: 0,
    seqNum: 0n,
    cond: Preconditions.precondNone(),
    memo: encodeMemo(memo),
    operations: operations.map((operation) => encodeOperation(operation, source)),
    ext: TransactionExt.v0(),
  })
}

function fromXdr(xdr: string): Transaction {
  return withFields(openEnvelope(xdr).tx, { fee: 0, seqNum: 0n })
}

/**
 * Returns the earliest end that the caller demands; the end of the relayer's policy when the caller demands
 * none. In Unix seconds.
 */
function endOf(
  { validUntil }: StellarRequest,
  tx: Transaction,
  { policies }: StellarAccount,
  closeTime: UnixSeconds,
): UnixSeconds {
  const until = validUntil === undefined ? undefined : secondsOf(validUntil)
  const own = maxTimeOf(tx)
  if (until !== undefined && own !== undefined) return smaller(until, own)
  const timeout = policies.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS
  return until ?? own ?? ((closeTime + BigInt(timeout)) as UnixSeconds)
}

/** Returns whole seconds, rounded down. The result is never 0, which would mean no end at all. */
function secondsOf(time: Date): UnixSeconds {
  return larger(1n, BigInt(Math.floor(time.getTime() / 1_000))) as UnixSeconds
}

/**
 * Returns the highest amount of lumens that operations take from `account`, in stroops, without fees.
 * `source` is the account of operations without one of their own. The amounts of smart contracts and of
 * `account_merge` are unknown in advance, so they do not count.
 */
export function nativeOutflow(operations: readonly Operation[], source: string, account: string): bigint {
  return operations
    .filter(({ sourceAccount }) => (sourceAccount === null ? source : underlying(sourceAccount)) === account)
    .reduce((sum, { body }) => sum + outflowOf(body), 0n)
}

function outflowOf(body: OperationBody): bigint {
  switch (body.type) {
    case 'createAccount':
      return body.createAccountOp.startingBalance
    case 'payment':
      return ifNative(body.paymentOp.asset, body.paymentOp.amount)
    case 'pathPaymentStrictSend':
      return ifNative(body.pathPaymentStrictSendOp.sendAsset, body.pathPaymentStrictSendOp.sendAmount)
    case 'pathPaymentStrictReceive':
      return ifNative(body.pathPaymentStrictReceiveOp.sendAsset, body.pathPaymentStrictReceiveOp.sendMax)
    case 'createClaimableBalance':
      return ifNative(body.createClaimableBalanceOp.asset, body.createClaimableBalanceOp.amount)
    default:
      return 0n
  }
}

function ifNative(asset: Asset, amount: bigint): bigint {
  return asset.type === 'assetTypeNative' ? amount : 0n
}

/**
 * Returns the amount that a request moves out of the relayer's account, before any fee is known. Externally
 * signed content moves the money of its own source.
 */
export function amountOutOf({ operations, transactionXdr, feeBump }: StellarRequest): bigint {
  if (feeBump === true) return 0n
  if (transactionXdr === undefined) {
    return (operations ?? []).reduce((sum, operation) => sum + outflowOf(encodeOperation(operation).body), 0n)
  }
  const { tx } = openEnvelope(transactionXdr)
  const source = underlying(tx.sourceAccount)
  return nativeOutflow(tx.operations, source, source)
}
