import type { Chain } from '../../chains/chain.ts'
import { FAMILIES } from '../../chains/families.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Input, Schemas } from '../../contract/operations.ts'
import { AppError, relayerNotFound } from '../../errors.ts'
import type { HandlerMap, RequestContext } from '../../http/handler.ts'
import { fingerprintOf } from '../../lib/hash.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { RelayerReader } from '../../relayers/relayer-cache.ts'
import { withFeePayment } from '../../sponsoring/fee-payment.ts'
import type { IdempotencyKey } from '../../transactions/accept/idempotency.ts'
import { requireAnswer } from '../../transactions/model/require-answer.ts'
import type { Transaction, TransactionWithAttempts } from '../../transactions/model/transaction.ts'
import { answerWithin } from '../../transactions/requests/account-state.ts'
import type { DryRun } from '../../transactions/requests/dry-run.ts'
import { hasReached } from '../../transactions/requests/waits.ts'
import {
  accountIdsOf,
  findByNonce,
  listTransactions,
  requireTransaction,
  type TransactionState,
} from '../../transactions/store/lookups-store.ts'
import type { RequestBody } from '../codecs/codec.ts'
import { CODECS, readRequest } from '../codecs/codecs.ts'
import { readBatch, withEncodedCall } from '../codecs/encoded-call.ts'
import { withDecodedCalls } from '../present/decoded-calls.ts'
import { presentDiagnosis } from '../present/diagnosis.ts'
import { presentDryRun } from '../present/dry-run.ts'
import { toPage } from '../present/shared.ts'
import { presentTransaction, presentWithAttempts } from '../present/transaction.ts'
import type { CoreParts, EventParts, RelayerParts, Service, TransactionParts } from '../service.ts'
import { readAfter, readAfterOfItems } from './after.ts'
import { decide, decideEach } from './decisions.ts'
import { type Goal, requireNonce, senderOf, signedBy, withBatchName } from './terms.ts'

type Operations =
  | 'sendTransaction'
  | 'listTransactions'
  | 'getTransactionById'
  | 'getTransactionByNonce'
  | 'replaceTransaction'
  | 'cancelTransaction'
  | 'diagnoseTransaction'
  | 'getTransactionReceipt'
  | 'decideTransaction'
  | 'decideTransactions'

/** The operations of the tag Transactions. An id in a path scopes everything below it. */
export function transactionHandlers(service: Service): Pick<HandlerMap, Operations> {
  const { db, relayerOf, runtimeOf, runtimesOf, transactions, gather } = service
  return {
    sendTransaction: async ({ path, query, header, body: sent }, context) => {
      const { actor, terms } = context
      const relayer = senderOf(await requireRelayer(relayerOf, path.relayer_id), terms)
      const { chain } = runtimeOf(relayer)
      const body = await withEncodedCall({ db, relayerId: relayer.id, chain }, sent)
      // The fingerprint is of the body itself, so a later change of the mapping does not change it.
      const idempotencyKey =
        terms?.nonce === undefined
          ? readIdempotencyKey(header['Idempotency-Key'], { body, maker: actor.keyId })
          : await requireNonce(service, relayer, { nonce: terms.nonce, body })
      const { lane, reference, description } = body
      const { max_queue_seconds: maxQueueSeconds } = query
      const request = await withFeePayment(db, { relayer, chain }, readSingle(body, relayer, chain))
      const after = await readAfter({ db, runtimesOf, principal: context.principal }, body.after)
      const named = { lane, reference, description }
      const sending = { request, actor, idempotencyKey, ...named, after, maxQueueSeconds }
      if (query.dry_run) return dryRunAnswer(await transactions.drySend(relayer, sending))
      const { logs, ...accepted } = await transactions.send(relayer, sending)
      const item = await awaited(service, { relayer, item: accepted, query, context })
      return { data: presentWithAttempts(item, chain), logs }
    },
    listTransactions: async ({ path, query }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const page = toPage(query)
      const { items, total } = await listTransactions(db, {
        relayerIds: await accountIdsOf(db, relayer),
        status: query.status,
        ...page,
      })
      const { chain } = runtimeOf(relayer)
      const shown = items.map((item) => presentTransaction(item, chain))
      return { data: await withDecodedCalls(db, shown, () => chain), pagination: page.describe(total) }
    },
    getTransactionById: async ({ path, query }, context) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const found = await requireTransaction(db, relayer, path.transaction_id)
      const item = await awaited(service, { relayer, item: found, query, context })
      return { data: await presentDecoded(service, relayer, item) }
    },
    getTransactionByNonce: async ({ path: { relayer_id, nonce } }) => {
      const relayer = await requireRelayer(relayerOf, relayer_id)
      if (FAMILIES[relayer.networkType].numbering !== 'nonce') throw nonceless(relayer)
      const item = await findByNonce(db, relayer, nonce)
      if (item === undefined)
        throw new AppError(
          'transaction_not_found',
          `No transaction of relayer ${relayer.id} has the nonce ${nonce}.`,
        )
      return { data: await presentDecoded(service, relayer, item) }
    },
    diagnoseTransaction: async ({ path }) => {
      const { relayer, item } = await requireOwnTransaction(service, path)
      const shown = await presentDecoded(service, relayer, item)
      return { data: presentDiagnosis(await gather(relayer, item), callIn(shown)) }
    },
    getTransactionReceipt: async ({ path }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const item = await requireTransaction(db, relayer, path.transaction_id)
      return { data: await readReceipt(service, relayer, item) }
    },
    decideTransaction: async ({ path, body }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const id = path.transaction_id
      await decide(service, relayer, { id, body, actor, at: 'body' })
      return { data: await presentDecoded(service, relayer, await requireTransaction(db, relayer, id)) }
    },
    decideTransactions: async ({ path, body: { decisions } }, { actor, countFurther }) => {
      countFurther(decisions.length - 1)
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      return { data: await decideEach(service, relayer, { decisions, actor }) }
    },
    replaceTransaction: async ({ path, query, body }, context) => {
      const { actor } = context
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { chain } = runtimeOf(relayer)
      if (body.lane !== undefined) throw laneInReplacement()
      if (body.reference !== undefined) throw keptInReplacement('reference')
      if (body.description !== undefined) throw keptInReplacement('description')
      if (body.after !== undefined) throw afterInReplacement()
      const request = readSingle(
        await withEncodedCall({ db, relayerId: relayer.id, chain }, body),
        relayer,
        chain,
      )
      const id = path.transaction_id
      const { relayer: account } = await requireOwnTransaction(service, path)
      const replacing = { relayer: account, id, request, actor }
      if (query.dry_run) return dryRunAnswer(await transactions.dryReplace(replacing))
      const { logs, ...replaced } = await transactions.replace(replacing)
      const item = await awaited(service, { relayer, item: replaced, query, context })
      return { data: presentWithAttempts(item, chain), logs }
    },
    cancelTransaction: async ({ path, query }, context) => {
      const { relayer } = await requireOwnTransaction(service, path)
      const { logs, ...canceled } = await transactions.cancel({
        relayer,
        id: path.transaction_id,
        actor: context.actor,
        action: 'cancelTransaction',
        unsignedOnly: query.unsigned_only,
      })
      const item = await awaited(service, { relayer, item: canceled, query, context })
      return { data: presentWithAttempts(item, runtimeOf(relayer).chain), logs }
    },
  }
}

/**
 * Finds a transaction of the relayer of the path, and the account that sends it, which is a relayer of its
 * own if it is a further one.
 * @throws AppError 404 `relayer_not_found`, `transaction_not_found`
 */
export async function requireOwnTransaction(
  { db, relayerOf }: Pick<Service, 'db' | 'relayerOf'>,
  path: { readonly relayer_id: string; readonly transaction_id: string },
): Promise<{ readonly relayer: Relayer; readonly item: TransactionWithAttempts }> {
  const relayer = await requireRelayer(relayerOf, path.relayer_id)
  // Most relayers have one account, and what follows reads the transaction again.
  const item = await requireTransaction(db, relayer, path.transaction_id)
  const { relayerId } = item.transaction
  if (relayerId === relayer.id) return { relayer, item }
  // An account that has left has no open transaction, so nothing acts on it.
  return { relayer: (await relayerOf(relayerId)) ?? relayer, item }
}

/** The time in ms that a request keeps after a wait, to read the transaction once more and answer. */
const ANSWER_MS = 2_000

interface AwaitedItem {
  readonly relayer: Relayer
  readonly item: TransactionWithAttempts
  readonly query: Input<'getTransactionById'>['query']
  readonly context: Pick<RequestContext, 'signal' | 'timeLeft' | 'requestId' | 'terms'>
}

/**
 * Waits for the status that the query names, and returns the transaction as it is then. It never fails: what
 * was accepted has to be told, and the record as it was is better than an error.
 */
async function awaited(
  { db, clock, waits, log }: CoreParts & EventParts,
  { relayer, item, query, context }: AwaitedItem,
): Promise<TransactionWithAttempts> {
  const { id } = item.transaction
  const { terms, signal } = context
  const goal = terms?.signedBy === undefined ? goalOf(query, context) : signedBy(terms.signedBy, clock)
  if (goal === undefined || goal.isReached(item)) return item
  await waits.until(id, { isDone: goal.isDone, ms: goal.ms, signal })
  return requireTransaction(db, relayer, id).catch((err: unknown) => {
    log.warn({ err, requestId: context.requestId }, 'awaited transaction not read again')
    return item
  })
}

/** Returns what the query waits for; undefined if it waits for nothing. */
function goalOf(
  { wait, timeout }: AwaitedItem['query'],
  context: Pick<RequestContext, 'timeLeft'>,
): Goal | undefined {
  if (wait === undefined) return undefined
  const isDone = ({ status }: TransactionState) => hasReached(status, wait)
  const ms = Math.min(Number(timeout) * 1_000, context.timeLeft() - ANSWER_MS)
  return { isReached: ({ transaction }) => isDone(transaction), isDone, ms }
}

async function presentDecoded(
  { db, runtimeOf }: CoreParts & RelayerParts,
  relayer: Relayer,
  item: TransactionWithAttempts,
): Promise<Schemas['TransactionWithAttempts']> {
  const { chain } = runtimeOf(relayer)
  const shown = presentWithAttempts(item, chain)
  const [decoded = shown] = await withDecodedCalls(db, [shown], () => chain)
  return decoded
}

/**
 * Reads the receipt of the record, and asks the network for the rest, about the attempt and the block of the
 * record.
 * @throws AppError `transaction_not_included`, or `network_unavailable` when no endpoint tells it
 */
async function readReceipt(
  { db, clock, runtimeOf }: CoreParts & RelayerParts,
  relayer: Relayer,
  item: TransactionWithAttempts,
): Promise<Schemas['TransactionReceipt']> {
  const { chain } = runtimeOf(relayer)
  const transaction = presentTransaction(item, chain)
  const hash = includedHashOf(transaction)
  if (hash === undefined) throw notIncluded(item.transaction)
  const told = requireAnswer(
    await answerWithin(clock, chain.emitted(hash)),
    `No endpoint of the network returned the logs of transaction ${hash}: none answers, or none still has them.`,
  )
  if (told.blockHash === item.transaction.block?.hash) {
    const common = { transaction_id: transaction.id, succeeded: told.success, truncated: told.truncated }
    const codec = CODECS[transaction.network_type]
    const data = await codec.presentEmitted(transaction, { db, chain, told, common })
    if (data !== undefined) return data
  }
  throw new AppError(
    'network_unavailable',
    `An endpoint has transaction ${hash} in another block than the record. Try again when the service has seen the next block.`,
  )
}

function includedHashOf({ receipt }: Schemas['Transaction']): string | undefined {
  if (receipt === undefined) return undefined
  return 'transaction_signature' in receipt ? receipt.transaction_signature : receipt.transaction_hash
}

function notIncluded({ id, status }: Transaction): AppError {
  const detail =
    status === 'confirmed'
      ? `Transaction ${id} is ${status} without a block that the service knows: an operator decided so, or its block is no longer in the chain.`
      : `No block includes transaction ${id}, which is ${status}.`
  return new AppError('transaction_not_included', detail)
}

function callIn(shown: Schemas['Transaction']): Schemas['DecodedCall'] | undefined {
  return 'decoded_call' in shown ? shown.decoded_call : undefined
}

function dryRunAnswer(dryRun: DryRun) {
  return { data: presentDryRun(dryRun), logs: dryRun.logs }
}

function laneInReplacement(): AppError {
  return new AppError(
    'invalid_request',
    'body.lane: expected to be absent, because a replacement stays on the account of its transaction.',
  )
}

function keptInReplacement(field: 'reference' | 'description'): AppError {
  return new AppError(
    'invalid_request',
    `body.${field}: expected to be absent, because a replacement keeps the ${field} of its transaction.`,
  )
}

function afterInReplacement(): AppError {
  return new AppError(
    'invalid_request',
    'body.after: expected to be absent, because a replacement waits for no other transaction.',
  )
}

function nonceless({ id, networkType }: Relayer): AppError {
  return new AppError(
    'not_supported',
    `Relayer ${id} is on a network of type ${networkType}; only transactions on evm are found by their nonce.`,
  )
}

/**
 * @throws AppError 400 `invalid_request` for the key that only items of a batch have, so that no caller
 * relies on it here
 */
function readSingle(body: RequestBody, relayer: Relayer, chain: Chain): ChainRequest {
  if (body.idempotency_key === undefined) return readRequest(body, relayer, chain)
  throw new AppError(
    'invalid_request',
    'body.idempotency_key: only an item of a batch has this field; send the header Idempotency-Key with a single transaction, and nothing with a replacement.',
  )
}

/** The body has been validated: an amount is a bigint, whether the caller wrote a number or digits. */
function readIdempotencyKey(
  key: string | undefined,
  { body, maker }: { readonly body: object; readonly maker: string },
): IdempotencyKey | undefined {
  return key === undefined ? undefined : { key, maker, fingerprint: fingerprintOf(body) }
}

/** @throws AppError 404 `relayer_not_found` */
export async function requireRelayer(relayerOf: RelayerReader, id: string): Promise<Relayer> {
  const relayer = await relayerOf(id)
  if (relayer === undefined) throw relayerNotFound(id)
  return relayer
}

/** The operation that sends a batch of transactions. */
export function transactionBatchHandlers({
  db,
  relayerOf,
  runtimeOf,
  runtimesOf,
  transactions,
}: CoreParts & RelayerParts & TransactionParts): Pick<HandlerMap, 'sendTransactionBatch'> {
  return {
    sendTransactionBatch: async ({ path, body }, { actor, countFurther, principal, terms }) => {
      countFurther(body.transactions.length - 1)
      const relayer = senderOf(await requireRelayer(relayerOf, path.relayer_id), terms)
      const { chain } = runtimeOf(relayer)
      const maker = actor.keyId
      const unnamed = await readBatch({ db, relayerId: relayer.id, chain, maker }, body, relayer)
      const read = withBatchName(unnamed, { name: terms?.batchName, body, maker })
      const located = await readAfterOfItems({ db, runtimesOf, principal }, read, body.transactions)
      const items = await Promise.all(
        located.map(async (item) => ({
          ...item,
          request: await withFeePayment(db, { relayer, chain }, item.request),
        })),
      )
      const accepted = await transactions.sendBatch(relayer, { items, actor, lane: body.lane })
      return {
        data: accepted.map((item) => presentWithAttempts(item, chain)),
        logs: accepted.flatMap(({ logs }, index) => logs.map((log) => `transactions[${index}]: ${log}`)),
      }
    },
  }
}

/** The operation on all waiting transactions of a relayer. */
export function pendingHandlers({
  relayerOf,
  transactions,
}: RelayerParts & TransactionParts): Pick<HandlerMap, 'deletePendingTransactions'> {
  return {
    deletePendingTransactions: async ({ path }, { actor, signal }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { canceled, failures, remaining } = await transactions.cancelPending(relayer, actor, signal)
      return {
        data: {
          queued_for_cancellation_transaction_ids: [...canceled],
          failed_to_queue_transaction_ids: failures.map(({ id }) => id),
          failures: failures.map(({ id, error }) => ({
            transaction_id: id,
            code: error.code,
            error: error.detail,
          })),
          total_processed: canceled.length + failures.length,
          remaining,
        },
      }
    },
  }
}
