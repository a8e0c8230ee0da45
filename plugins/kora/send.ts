import { callApi, isRecord, locked } from '../shared/host.ts'
import { KoraError } from './errors.ts'
import {
  admitTransaction,
  find,
  nameOf,
  noteTransactionEnd,
  recallSignature,
  rememberSignature,
  type Sent,
} from './exposure.ts'
import type { Sponsor } from './sponsor.ts'
import { type UserTransaction, withSignature } from './transactions/transaction.ts'

/**
 * When a request is answered: the transaction is signed, a node has it, or a block that the network voted for
 * has it.
 */
export const RESPOND_AFTER = ['signed', 'sent', 'confirmed'] as const
export type RespondAfter = (typeof RESPOND_AFTER)[number]

/** A request for the relayer's signature. */
export interface Order {
  readonly transaction: UserTransaction
  /** Whose `user_limits` it counts against. */
  readonly userId: string
}

/**
 * Signs a transaction that pays. It is not sent, and nothing but its signature remembers it: while it can be
 * included, the same transaction has the same answer, and is checked and counted once.
 */
export async function sign(sponsor: Sponsor, order: Order): Promise<string> {
  const { transaction, userId } = order
  const known = await recallSignature(sponsor, transaction)
  if (known !== undefined) return withSignature(transaction, known)
  return admitTransaction(sponsor, order, async () => {
    const signed = await callApi(sponsor.world, {
      method: 'POST',
      path: `${sponsor.path}/sign-transaction`,
      body: { transaction: transaction.base64 },
      userId,
    })
    const { signature } = isRecord(signed) ? signed : {}
    if (typeof signature !== 'string') throw new KoraError('SigningError', 'The relayer did not sign.')
    await rememberSignature(sponsor, transaction, signature)
    return withSignature(transaction, signature)
  })
}

/**
 * Sends a transaction that pays, once: the hash of its message is the idempotency key, so the same
 * transaction has one record and one answer, from every process and after any crash. Only a new one is
 * checked and counted. Returns its signature.
 */
export async function send(sponsor: Sponsor, order: Order, respondAfter: RespondAfter): Promise<string> {
  const { transaction, userId } = order
  const key = nameOf(transaction)
  const found = await find(sponsor, key)
  const sent =
    found ??
    (await locked(sponsor.world, key, async () => {
      const first = await find(sponsor, key)
      if (first !== undefined) return first
      return admitTransaction(
        sponsor,
        order,
        async () =>
          (await callApi(sponsor.world, {
            method: 'POST',
            path: `${sponsor.path}/transactions`,
            body: { transaction: transaction.base64 },
            idempotencyKey: key,
            userId,
          })) as Sent,
      )
    }))
  const followed = await follow(sponsor, sent, respondAfter)
  if (found === undefined) await noteTransactionEnd(sponsor, transaction, followed)
  return outcome(followed, respondAfter)
}

/** Statuses after which nothing is executed any more. */
const ENDED = ['failed', 'canceled', 'expired']

const REACHED: Readonly<Record<RespondAfter, readonly string[]>> = {
  signed: ['sent', 'submitted', 'mined', 'confirmed'],
  sent: ['submitted', 'mined', 'confirmed'],
  confirmed: ['mined', 'confirmed'],
}

/** Seconds of one request that waits: the host closes those that take 30 s. */
const WAIT_SECONDS = 10

async function follow(
  { world, settings, path }: Sponsor,
  sent: Sent,
  respondAfter: RespondAfter,
): Promise<Sent> {
  const deadline = world.now() + settings.timeoutSeconds * 1000
  const wait = respondAfter === 'confirmed' ? 'mined' : 'submitted'
  let seen = sent
  for (;;) {
    if (ENDED.includes(seen.status) || REACHED[respondAfter].includes(seen.status)) return seen
    const left = Math.ceil((deadline - world.now()) / 1000)
    if (left <= 0) return seen
    const timeout = Math.min(WAIT_SECONDS, left)
    const at = `${path}/transactions/${seen.id}?wait=${wait}&timeout=${timeout}`
    seen = (await callApi(world, { method: 'GET', path: at })) as Sent
  }
}

function outcome({ id, status, status_reason: reason, hash }: Sent, respondAfter: RespondAfter): string {
  const fields = { transaction_id: id, status, ...(hash !== undefined && { signature: hash }) }
  const why = reason === undefined ? '' : ` ${reason}`
  if (ENDED.includes(status))
    throw new KoraError('TransactionExecutionFailed', `The transaction is ${status}.${why}`, fields)
  if (hash !== undefined && REACHED[respondAfter].includes(status)) return hash
  throw new KoraError(
    'RpcError',
    `The transaction is accepted, and not ${respondAfter} yet.${why} Ask again: it is sent only once.`,
    fields,
  )
}
