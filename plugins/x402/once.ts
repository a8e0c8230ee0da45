import { CallError } from '../shared/call-error.ts'
import { ApiRefusal, callApi, locked, NodeError, Unavailable, type World } from '../shared/host.ts'
import { digest, findByKey, isEnded, type SentTransaction } from '../shared/transactions.ts'
import { type Asked, paymentKey } from './asked.ts'
import type { Settings } from './config.ts'
import { admitPayment, notePaymentEnd } from './exposure.ts'
import { countPayment } from './limits.ts'
import { namesOf } from './payments.ts'
import { Refusal } from './refusal.ts'
import type { Payment, Verified } from './scheme.ts'

/**
 * Finds the transaction of a payment. @throws Refusal `duplicate_settlement` if it settles another payment
 * with the same nonce
 */
export async function findTransaction(asked: Asked, world: World): Promise<SentTransaction | undefined> {
  const { request, payment } = asked
  const transaction = await findByKey(request.network.relayerId, paymentKey(asked), world)
  if (transaction === undefined || (await payment.isSettledBy(transaction))) return transaction
  const asFirst = { ...transaction, ...transaction.requested }
  if (transaction.requested !== undefined && (await payment.isSettledBy(asFirst))) return transaction
  throw otherPayment(payment)
}

function otherPayment({ payer }: Pick<Payment, 'payer'>): Refusal {
  return new Refusal(
    'duplicate_settlement',
    'Another payment with the same nonce, or by the same delegation, was accepted before.',
    payer,
  )
}

/**
 * Sends the transaction of a payment, or finds it. It is verified and counted if it is new. Of any number of
 * requests at the same time, one does so and the others find what it sent; the idempotency key would hold
 * even without the lock.
 */
export async function sendOnce(
  asked: Asked,
  { settings, world, deadline }: { settings: Settings; world: World; deadline: number },
): Promise<{ readonly transaction: SentTransaction; readonly isNew: boolean }> {
  const found = await findTransaction(asked, world)
  if (found) return { transaction: found, isNew: false }
  const { request, payment, caller } = asked
  const key = paymentKey(asked)
  return locked(world, key, async () => {
    const sent = await findTransaction(asked, world)
    if (sent) return { transaction: sent, isNew: false }
    const steps = {
      check: async () => {
        const verified = await payment.verify({ now: world.now(), deadline })
        if (verified.approval === undefined) return verified
        throw new Refusal(
          'permit2_allowance_required',
          'The approval that came with the payment is not in a block yet. Settle the payment again.',
          payment.payer,
        )
      },
      send: async ({ body }: Verified) => {
        const { payer, amount } = payment
        await countPayment({ request, payer, amount, caller }, settings.limits, world)
        // What cannot be included in time is refused at once, and nothing is stored.
        const seconds = Math.ceil(settings.timeoutMs / 1000)
        const path = `/api/v1/relayers/${encodeURIComponent(request.network.relayerId)}/transactions?max_queue_seconds=${seconds}`
        const named = { ...body, ...namesOf(request, payment) }
        return callApi(world, { method: 'POST', path, body: named, idempotencyKey: key }).catch(
          (error: unknown) => {
            throw error instanceof ApiRefusal ? refusalOf(error, payment) : error
          },
        )
      },
    }
    const transaction = await admitPayment(asked, { settings, world }, steps)
    return { transaction: transaction as SentTransaction, isNew: true }
  })
}

/**
 * For so long, a payment that someone else has sent before anybody asked for it is the answer to who asks.
 * Later it is an old one.
 */
const MADE_MS = 600_000

/**
 * Finds a payment that was made before it was asked for: who has an authorization can send it himself.
 * Whoever asks is told that it is paid, and nothing is sent. @throws the refusal if it is not, or nobody
 * knows
 */
export async function findMade(
  asked: Asked,
  refusal: Refusal,
  { repeatMs = MADE_MS, world }: { readonly repeatMs?: number | undefined; readonly world: World },
): Promise<Settlement> {
  if (!asked.payment.mayBeMade(refusal)) throw refusal
  const since = world.now() - Math.min(repeatMs, MADE_MS)
  const found = await asked.payment.elsewhere({ hash: undefined, since })
  if (found.kind === 'paid') return { kind: 'paid', hash: found.hash }
  if (found.kind === 'unpaid') throw refusal
  const message = `${refusal.message} No node tells whether that was this payment. Ask again.`
  return { kind: 'pending', hash: '', message }
}

/** Codes with which the service says that this content cannot be included. */
const IMPOSSIBLE = new Set([
  'execution_reverted',
  'fee_payer_at_risk',
  'policy_violation',
  'valid_until_in_past',
])

/**
 * What the relayer has, may and lacks is the operator's business, so of other refusals only the code is told.
 */
export function refusalOf({ code, message }: ApiRefusal, payment: Pick<Payment, 'payer'>): Refusal {
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

/**
 * Requests that wait at the same time. The host has 64 connections for a plugin, and sending must not wait
 * for those who wait.
 */
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
      if (hash !== undefined) {
        await notePaymentEnd(asked, { end: 'ended', seen }, world)
        return { kind: 'paid', hash }
      }
    } catch (error) {
      if (error instanceof Refusal) {
        const end = costs(seen) ? 'failed' : 'ended'
        await notePaymentEnd(asked, { end, seen }, world)
      }
      // What no node answers now is asked again.
      if (!(error instanceof Unavailable || error instanceof NodeError)) throw error
    }
    const left = deadline - world.now()
    if (left > 0) seen = await lookAgain(asked.request.network.relayerId, { seen, waitFor, left }, world)
    else {
      const last = await withdraw(asked, seen, world)
      if (!isEnded(last.status) || isEnded(seen.status))
        return { kind: 'pending', hash: last.hash ?? '', message: whyPending(last) }
      seen = last
    }
  }
}

/** True for a transaction without the payment for which the relayer paid the fee. */
function costs({ status, hash }: SentTransaction): boolean {
  return hash !== undefined && (status === 'failed' || status === 'confirmed')
}

/** How long what is about to be signed is waited for, after it could not be taken back. */
const SIGNING_MS = 3_000

/**
 * Takes back what is not signed in time, so that nobody pays after being told no. Returns the transaction as
 * it is then: ended, or with the hash to ask for. Nothing is taken back that would cost a no-op.
 */
async function withdraw({ request }: Asked, seen: SentTransaction, world: World): Promise<SentTransaction> {
  const path = `/api/v1/relayers/${encodeURIComponent(request.network.relayerId)}/transactions/${seen.id}`
  const end = world.now() + SIGNING_MS
  let last = seen
  while (last.status === 'pending' && last.hash === undefined && world.now() < end) {
    try {
      last = (await callApi(world, {
        method: 'DELETE',
        path: `${path}?unsigned_only=true`,
      })) as SentTransaction
    } catch (error) {
      if (!(error instanceof Unavailable || error instanceof ApiRefusal)) throw error
      // It is signed, or ended meanwhile, or nobody knows.
      await world.sleep(POLL_MS)
      last = await reread(path, last, world)
    }
  }
  return last
}

async function reread(path: string, last: SentTransaction, world: World): Promise<SentTransaction> {
  try {
    return (await callApi(world, { method: 'GET', path })) as SentTransaction
  } catch (error) {
    if (error instanceof Unavailable) return last
    throw error
  }
}

function whyPending({ status, status_reason }: SentTransaction): string {
  if (isEnded(status))
    return `The relayer's transaction is ${status}, and no node tells whether someone else made the payment. Ask again.`
  const reason = status_reason === undefined ? '' : ` ${status_reason}`
  return `The payment is accepted and not settled yet (${status}).${reason} Ask again: it is sent only once.`
}

/** Looks at a transaction again, when its status has changed or after a while. */
export async function lookAgain(
  relayerId: string,
  { seen, waitFor, left }: { seen: SentTransaction; waitFor: string; left: number },
  world: World,
): Promise<SentTransaction> {
  const isOpen =
    ['pending', 'sent', 'submitted'].includes(seen.status) || (seen.status === 'mined' && waitFor !== 'mined')
  const mayWait = isOpen && waiting < MAX_WAITING
  if (!mayWait) await world.sleep(Math.min(POLL_MS, left))
  const seconds = Math.max(1, Math.min(WAIT_SECONDS, Math.ceil(left / 1000)))
  const path = `/api/v1/relayers/${encodeURIComponent(relayerId)}/transactions/${seen.id}`
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
  if (isEnded(status)) return paidElsewhere(seen, payment)
  if (hash === undefined || !(status === 'confirmed' || (status === 'mined' && waitFor === 'mined')))
    return undefined
  // The block may contain it reverted, or a no-op in its place, which is certain only when it is final.
  const outcome = await payment.outcome(hash)
  if (outcome === 'paid') return hash
  if (outcome === 'unknown') return undefined
  return paidElsewhere(seen, payment)
}

/**
 * Returns the hash of a transaction of someone else; undefined while that is unknown. @throws Refusal if
 * nobody paid, and that is final
 */
async function paidElsewhere(seen: SentTransaction, payment: Payment): Promise<string | undefined> {
  const found = await payment.elsewhere({ hash: seen.hash, since: Date.parse(seen.created_at) })
  if (found.kind === 'paid') return found.hash
  const isFinal = isEnded(seen.status) || seen.status === 'confirmed'
  return found.kind === 'unpaid' && isFinal ? fail(seen, payment) : undefined
}

function fail({ status, status_reason, hash }: SentTransaction, { payer }: Payment): never {
  const name = hash === undefined ? 'The transaction' : `The transaction ${hash}`
  const reason = status_reason === undefined ? '' : ` ${status_reason}`
  throw new Refusal('invalid_transaction_state', `${name} is ${status} without the payment.${reason}`, payer)
}

/**
 * The key under which the `payment-identifier` of a payment is kept; ids are the choice of payers, so each
 * has his own with each payee.
 */
function idKey({ request, payment }: Asked): string {
  const { network, requirements, paymentId = '' } = request
  return `id:${digest([network.network, requirements.payTo, payment.payer, paymentId])}`
}

/**
 * Refuses a `payment-identifier` that was used for another payment. Returns true if it is new. @throws
 * CallError 409
 */
export async function checkPaymentId(asked: Asked, world: World): Promise<boolean> {
  if (asked.request.paymentId === undefined) return false
  const known = await world.kv.get(idKey(asked))
  if (typeof known !== 'string') return true
  if (known === contentOf(asked)) return false
  const message = 'payment-identifier: this id was used for another payment.'
  throw new CallError(409, 'payment_identifier_reused', message)
}

/**
 * Accepts a payment under its `payment-identifier`, which is remembered for as many seconds. It is stored
 * first: where it cannot be, nothing is sent, and whoever is told of a failure after the sending may repeat
 * it with another payment. A refused payment does not use up its id. Payments with the same id wait for each
 * other. @throws CallError 409
 */
export async function underPaymentId<Result>(
  asked: Asked,
  { keepSeconds, world }: { keepSeconds: number; world: World },
  accept: () => Promise<Result>,
): Promise<Result> {
  if (asked.request.paymentId === undefined) return accept()
  const key = idKey(asked)
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
