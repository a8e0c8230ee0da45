import { createHash } from 'node:crypto'
import { ApiRefusal, callApi, locked, NodeError, Unavailable, type World } from '../shared/host.ts'
import type { Settings } from './config.ts'
import { countPayment } from './limits.ts'
import { CallError, Refusal } from './refusal.ts'
import type { Payment } from './scheme.ts'
import type { PaymentRequest } from './wire.ts'

/** A transaction as the service shows it; the fields that are read here. */
export interface SentTransaction {
  readonly id: string
  readonly status: string
  readonly status_reason?: string
  readonly created_at: string
  /** The hash, or on Solana the signature; absent until it is signed. */
  readonly hash?: string
  readonly to?: string
  readonly data?: string
}

/** A payment that someone asks for. */
export interface Asked {
  readonly request: PaymentRequest
  readonly payment: Payment
  /** The id of the API key that asks; all callers without one share another. */
  readonly caller: string
}

/**
 * Names a payment by network, asset, payer and nonce, or what its chain has in their place. It is the idempotency key of the payment's
 * transaction, which the service stores with it: so the transaction is the only record of a payment, every process finds it, after any
 * crash, and there is never a second one.
 */
export function paymentKey({ request, payment }: Pick<Asked, 'request' | 'payment'>): string {
  return `x402:${digest([request.network.network, ...payment.identity])}`
}

/** Hashes texts so that no other list of texts has the same hash. */
function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** Finds the transaction of a payment. @throws Refusal `duplicate_settlement` if it settles another payment with the same nonce */
export async function findTransaction(asked: Asked, world: World): Promise<SentTransaction | undefined> {
  const query = new URLSearchParams({
    relayer_id: asked.request.network.relayerId,
    idempotency_key: paymentKey(asked),
  })
  const found = await callApi(world, { method: 'GET', path: `/api/v1/transactions?${query}` })
  const transaction = Array.isArray(found) ? (found[0] as SentTransaction | undefined) : undefined
  if (transaction === undefined || asked.payment.isSettledBy(transaction)) return transaction
  throw otherPayment(asked.payment)
}

function otherPayment({ payer }: Payment): Refusal {
  return new Refusal(
    'duplicate_settlement',
    'Another payment with the same nonce was accepted before.',
    payer,
  )
}

/**
 * Sends the transaction of a payment, or finds it. It is verified and counted if it is new. Of any number of requests at the same time,
 * one does so and the others find what it sent; the idempotency key would hold even without the lock.
 */
export async function sendOnce(
  asked: Asked,
  settings: Settings,
  world: World,
): Promise<{ readonly transaction: SentTransaction; readonly isNew: boolean }> {
  const found = await findTransaction(asked, world)
  if (found) return { transaction: found, isNew: false }
  const { request, payment, caller } = asked
  const key = paymentKey(asked)
  return locked(world, key, async () => {
    const sent = await findTransaction(asked, world)
    if (sent) return { transaction: sent, isNew: false }
    const body = await payment.verify(world.now())
    await countPayment({ request, payer: payment.payer, caller }, settings.limits, world)
    const path = `/api/v1/relayers/${encodeURIComponent(request.network.relayerId)}/transactions`
    const transaction = await callApi(world, { method: 'POST', path, body, idempotencyKey: key })
    return { transaction: transaction as SentTransaction, isNew: true }
  }).catch((error: unknown) => {
    throw error instanceof ApiRefusal ? refusalOf(error, payment) : error
  })
}

/** Codes with which the service says that this content cannot be included. */
const IMPOSSIBLE = new Set([
  'execution_reverted',
  'fee_payer_at_risk',
  'policy_violation',
  'valid_until_in_past',
])

/** What the relayer has, may and lacks is the operator's business, so of other refusals only the code is told. */
function refusalOf({ code, message }: ApiRefusal, payment: Payment): Refusal {
  if (code === 'idempotency_key_reused') return otherPayment(payment)
  if (IMPOSSIBLE.has(code)) return new Refusal('invalid_transaction_state', message, payment.payer)
  return new Refusal(
    'unexpected_settle_error',
    `The relayer does not send the payment: ${code}.`,
    payment.payer,
  )
}

/** What became of a payment within the time. */
export type Settlement =
  | { readonly kind: 'paid'; readonly hash: string }
  /** The message says why, also if a block that contained it is no longer part of the chain. */
  | { readonly kind: 'pending'; readonly hash: string; readonly message: string }

/** Seconds of one request that waits. A request to the service that takes longer than 30 s fails. */
const WAIT_SECONDS = 5

/** Requests that wait at the same time. The host has 64 connections for a plugin, and sending must not wait for those who wait. */
const MAX_WAITING = 40
const POLL_MS = 500
let waiting = 0

/**
 * Waits until `deadline` for the block that contains the payment.
 * @throws Refusal `invalid_transaction_state` if it failed for good
 */
export async function awaitInclusion(
  { asked, sent, deadline }: { asked: Asked; sent: SentTransaction; deadline: number },
  { waitFor }: Pick<Settings, 'waitFor'>,
  world: World,
): Promise<Settlement> {
  let seen = sent
  for (;;) {
    try {
      const hash = await paidIn(seen, asked.payment, waitFor)
      if (hash !== undefined) return { kind: 'paid', hash }
    } catch (error) {
      // What no node answers now is asked again.
      if (!(error instanceof Unavailable || error instanceof NodeError)) throw error
    }
    const left = deadline - world.now()
    if (left <= 0) return { kind: 'pending', hash: seen.hash ?? '', message: whyPending(seen) }
    seen = await look(asked, { seen, waitFor, left }, world)
  }
}

function whyPending({ status, status_reason }: SentTransaction): string {
  const reason = status_reason === undefined ? '' : ` ${status_reason}`
  return `The payment is accepted and not settled yet (${status}).${reason} Ask again: it is sent only once.`
}

/** Looks at a transaction again, when its status has changed or after a while. */
async function look(
  { request }: Asked,
  { seen, waitFor, left }: { seen: SentTransaction; waitFor: string; left: number },
  world: World,
): Promise<SentTransaction> {
  const isOpen =
    ['pending', 'sent', 'submitted'].includes(seen.status) || (seen.status === 'mined' && waitFor !== 'mined')
  const mayWait = isOpen && waiting < MAX_WAITING
  if (!mayWait) await world.sleep(Math.min(POLL_MS, left))
  const seconds = Math.max(1, Math.min(WAIT_SECONDS, Math.ceil(left / 1000)))
  const path = `/api/v1/relayers/${encodeURIComponent(request.network.relayerId)}/transactions/${seen.id}`
  waiting += mayWait ? 1 : 0
  try {
    const query = mayWait ? `?wait=${waitFor}&timeout=${seconds}` : ''
    return (await callApi(world, { method: 'GET', path: `${path}${query}` })) as SentTransaction
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    await world.sleep(Math.min(POLL_MS, left))
    return seen
  } finally {
    waiting -= mayWait ? 1 : 0
  }
}

/** Returns the hash of the transaction in which the payment was made; undefined while that is open. */
async function paidIn(
  seen: SentTransaction,
  payment: Payment,
  waitFor: Settings['waitFor'],
): Promise<string | undefined> {
  const { status, hash } = seen
  if (['failed', 'canceled', 'expired'].includes(status))
    return (await payment.paidByOthers()) ?? fail(seen, payment)
  if (hash === undefined || !(status === 'confirmed' || (status === 'mined' && waitFor === 'mined')))
    return undefined
  // The block may contain it reverted, or a no-op in its place, which is certain only when it is final.
  const outcome = await payment.outcome(hash)
  if (outcome === 'paid') return hash
  if (outcome === 'unknown') return undefined
  return (await payment.paidByOthers()) ?? (status === 'confirmed' ? fail(seen, payment) : undefined)
}

function fail({ status, status_reason, hash }: SentTransaction, { payer }: Payment): never {
  const name = hash === undefined ? 'The transaction' : `The transaction ${hash}`
  const reason = status_reason === undefined ? '' : ` ${status_reason}`
  throw new Refusal('invalid_transaction_state', `${name} is ${status} without the payment.${reason}`, payer)
}

/** The key under which the `payment-identifier` of a request is kept; ids are the choice of clients, so each payee has its own. */
function idKey({ network, requirements: { payTo }, paymentId = '' }: PaymentRequest): string {
  return `id:${digest([network.network, payTo, paymentId])}`
}

/** Refuses a `payment-identifier` that was used for another payment. Returns true if it is new. @throws CallError 409 */
export async function checkPaymentId(asked: Asked, world: World): Promise<boolean> {
  if (asked.request.paymentId === undefined) return false
  const known = await world.kv.get(idKey(asked.request))
  if (typeof known !== 'string') return true
  if (known === contentOf(asked)) return false
  const message = 'payment-identifier: this id was used for another payment.'
  throw new CallError(409, 'payment_identifier_reused', message)
}

/**
 * Accepts a payment under its `payment-identifier`, which is remembered for as many seconds. It is stored first: where it cannot be, nothing is
 * sent, and whoever is told of a failure after the sending may repeat it with another payment. A refused payment does not use up its id.
 * Payments with the same id wait for each other. @throws CallError 409
 */
export async function underPaymentId<Result>(
  asked: Asked,
  { keepSeconds, world }: { keepSeconds: number; world: World },
  accept: () => Promise<Result>,
): Promise<Result> {
  if (asked.request.paymentId === undefined) return accept()
  const key = idKey(asked.request)
  return locked(world, `${key}:lock`, async () => {
    const isNew = await checkPaymentId(asked, world)
    await world.kv.set(key, contentOf(asked), { ttlSec: keepSeconds })
    try {
      return await accept()
    } catch (error) {
      if (isNew && error instanceof Refusal) await world.kv.del(key)
      throw error
    }
  })
}

function contentOf(asked: Asked): string {
  return digest([paymentKey(asked), ...asked.payment.content])
}
