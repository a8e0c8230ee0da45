import type { Actor } from '../access/actor.ts'
import type { Chain } from '../chains/chain.ts'
import type { ChainRequest } from '../chains/request.ts'
import type { HandlerMap, Schemas } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import type { DiagnosisFacts } from '../diagnosis/facts.ts'
import { AppError } from '../errors.ts'
import { fingerprintOf } from '../lib/fingerprint.ts'
import type { NetworkType } from '../networks/network.ts'
import type { RelayerReader } from '../relayers/read.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { Acceptor } from '../transactions/accept/accept.ts'
import type { IdempotencyKey } from '../transactions/accept/idempotency.ts'
import type { DryRun } from '../transactions/dry-run/dry-run.ts'
import type { DryRuns } from '../transactions/dry-run/dry-runs.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import type { Transaction, TransactionWithAttempts } from '../transactions/model/transaction.ts'
import type { createReplacer } from '../transactions/replace/replace.ts'
import {
  type DecisionOutcome,
  type OperatorDecision,
  storeDecision,
} from '../transactions/store/decisions-store.ts'
import { findByNonce, listTransactions } from '../transactions/store/read-store.ts'
import { requireTransaction } from '../transactions/store/require-transaction.ts'
import { withDecodedCalls } from './present/decoded-calls.ts'
import { presentDiagnosis } from './present/diagnosis.ts'
import { presentDryRun } from './present/dry-run.ts'
import { toPage } from './present/page.ts'
import { presentTransaction, presentWithAttempts } from './present/transaction.ts'
import { withEncodedCall } from './read/encoded-call.ts'
import { type RequestBody, readRequest } from './read/request.ts'

/** The parts of the service that these operations call. */
export interface TransactionHandlerDeps {
  readonly db: Db
  readonly relayerOf: RelayerReader
  readonly runtimeOf: (relayer: Relayer) => RelayerRuntime
  readonly accept: Acceptor
  readonly replacer: ReturnType<typeof createReplacer>
  readonly dryRuns: DryRuns
  readonly gather: (relayer: Relayer, item: TransactionWithAttempts) => Promise<DiagnosisFacts>
}

type Operations =
  | 'sendTransaction'
  | 'listTransactions'
  | 'getTransactionById'
  | 'getTransactionByNonce'
  | 'replaceTransaction'
  | 'cancelTransaction'
  | 'diagnoseTransaction'
  | 'decideTransaction'

/** The operations of the tag Transactions. An id in a path scopes everything below it. */
export function transactionHandlers(deps: TransactionHandlerDeps): Pick<HandlerMap, Operations> {
  const { db, relayerOf, runtimeOf, accept, replacer, dryRuns, gather } = deps
  return {
    sendTransaction: async ({ path, query, header, body: sent }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { chain } = runtimeOf(relayer)
      const body = await withEncodedCall({ db, relayerId: relayer.id, chain }, sent)
      // The fingerprint is of the body itself, so a later change of the mapping does not change it.
      const idempotencyKey = readIdempotencyKey(header['Idempotency-Key'], body)
      const request = readSingle(body, relayer, chain)
      if (query.dry_run) return dryRunAnswer(await dryRuns.send(relayer, { request, actor, idempotencyKey }))
      const { logs, ...item } = await accept(relayer, request, actor, idempotencyKey)
      return { data: presentWithAttempts(item, chain), logs }
    },
    listTransactions: async ({ path, query }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const page = toPage(query)
      const { items, total } = await listTransactions(db, {
        relayerId: relayer.id,
        status: query.status,
        ...page,
      })
      const { chain } = runtimeOf(relayer)
      const shown = items.map((item) => presentTransaction(item, chain))
      return { data: await withDecodedCalls(db, shown, () => chain), pagination: page.describe(total) }
    },
    getTransactionById: async ({ path }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const item = await requireTransaction(db, relayer, path.transaction_id)
      return { data: await presentDecoded(deps, relayer, item) }
    },
    getTransactionByNonce: async ({ path: { relayer_id, nonce } }) => {
      const relayer = await requireRelayer(relayerOf, relayer_id)
      if (!HAS_NONCES[relayer.networkType]) throw nonceless(relayer)
      const item = await findByNonce(db, relayer, nonce)
      if (item === undefined)
        throw new AppError(
          'transaction_not_found',
          `No transaction of relayer ${relayer.id} has the nonce ${nonce}.`,
        )
      return { data: await presentDecoded(deps, relayer, item) }
    },
    diagnoseTransaction: async ({ path }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const item = await requireTransaction(db, relayer, path.transaction_id)
      const shown = await presentDecoded(deps, relayer, item)
      return { data: presentDiagnosis(await gather(relayer, item), callIn(shown)) }
    },
    decideTransaction: async ({ path, body }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const item = await requireTransaction(db, relayer, path.transaction_id)
      const decision = readDecision(item.transaction, body, actor)
      const outcome = await storeDecision(db, decision, actor)
      if (outcome !== 'stored') throw refusedDecision(outcome, item.transaction, decision)
      return { data: await presentDecoded(deps, relayer, item) }
    },
    replaceTransaction: async ({ path, query, body }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { chain } = runtimeOf(relayer)
      const request = readSingle(
        await withEncodedCall({ db, relayerId: relayer.id, chain }, body),
        relayer,
        chain,
      )
      const id = path.transaction_id
      if (query.dry_run) return dryRunAnswer(await dryRuns.replace({ relayer, id, request, actor }))
      const { logs, ...item } = await replacer.replaceTransaction(relayer, id, { request, actor })
      return { data: presentWithAttempts(item, chain), logs }
    },
    cancelTransaction: async ({ path }, { actor }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { logs, ...item } = await replacer.cancelTransaction(relayer, path.transaction_id, {
        actor,
        action: 'cancelTransaction',
      })
      return { data: presentWithAttempts(item, runtimeOf(relayer).chain), logs }
    },
  }
}

async function presentDecoded(
  { db, runtimeOf }: TransactionHandlerDeps,
  relayer: Relayer,
  item: TransactionWithAttempts,
): Promise<Schemas['TransactionWithAttempts']> {
  const { chain } = runtimeOf(relayer)
  const shown = presentWithAttempts(item, chain)
  const [decoded = shown] = await withDecodedCalls(db, [shown], () => chain)
  return decoded
}

/** @throws AppError 400 `invalid_request` for an attempt of what was not included */
function readDecision(
  { id, currentAttempt = 1 }: Transaction,
  { included, attempt, reason }: Schemas['TransactionDecision'],
  actor: Actor,
): OperatorDecision {
  if (!included && attempt !== undefined)
    throw new AppError('invalid_request', 'body.attempt: expected only where body.included is true.')
  return {
    transactionId: id,
    attempt: included ? (attempt ?? currentAttempt) : undefined,
    reason,
    decidedBy: actor.keyId,
  }
}

function refusedDecision(
  outcome: Exclude<DecisionOutcome, 'stored'>,
  { id, status, undecidedSince }: Transaction,
  { attempt }: OperatorDecision,
): AppError {
  if (outcome === 'unknown_attempt')
    return new AppError('invalid_request', `body.attempt: transaction ${id} has no attempt ${attempt}.`)
  const detail =
    status === 'mined' && undecidedSince !== undefined
      ? `Transaction ${id} is in a block, and the endpoints contradict each other about its result: it waits until they agree.`
      : `Transaction ${id} is ${status} and does not wait for a decision: the chain decides.`
  return new AppError('transaction_not_undecided', detail)
}

function callIn(shown: Schemas['Transaction']): Schemas['DecodedCall'] | undefined {
  return shown.network_type === 'evm' ? shown.decoded_call : undefined
}

function dryRunAnswer(dryRun: DryRun) {
  return { data: presentDryRun(dryRun), logs: dryRun.logs }
}

/** True for the network types whose transactions have a `nonce` in the contract. */
const HAS_NONCES: Readonly<Record<NetworkType, boolean>> = { evm: true, solana: false, stellar: false }

function nonceless({ id, networkType }: Relayer): AppError {
  return new AppError(
    'not_supported',
    `Relayer ${id} is on a network of type ${networkType}; only transactions on evm are found by their nonce.`,
  )
}

/** @throws AppError 400 `invalid_request` for the key that only items of a batch have, so that nobody relies on it here */
function readSingle(body: RequestBody, relayer: Relayer, chain: Chain): ChainRequest {
  if (body.idempotency_key === undefined) return readRequest(body, relayer, chain)
  throw new AppError(
    'invalid_request',
    'body.idempotency_key: only an item of a batch has this field; send the header Idempotency-Key with a single transaction, and nothing with a replacement.',
  )
}

/** The body has been validated: an amount is a bigint, whether the caller wrote a number or digits. */
function readIdempotencyKey(key: string | undefined, body: object): IdempotencyKey | undefined {
  return key === undefined ? undefined : { key, fingerprint: fingerprintOf(body) }
}

/** @throws AppError 404 `relayer_not_found` */
export async function requireRelayer(relayerOf: RelayerReader, id: string): Promise<Relayer> {
  const relayer = await relayerOf(id)
  if (relayer === undefined) throw new AppError('relayer_not_found', `There is no relayer ${id}.`)
  return relayer
}
