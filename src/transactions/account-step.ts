import { acquireLease, LeaseLostError, releaseLease } from '../database/lease.ts'
import { findRelayer } from '../relayers/store.ts'
import { broadcastCurrent } from './broadcast.ts'
import type { HeldAccount, TransactionsContext } from './context.ts'
import { raiseOverdue } from './raise.ts'
import { findAttempts } from './store.ts'
import { submitPending } from './submit.ts'
import { findDueInFlight } from './work-store.ts'

/**
 * How long an account stays ours without another step, in ms. It must outlast the longest step, which is a few RPC
 * time-outs; every write is fenced all the same, so a step that is too slow loses its work and nothing else.
 */
const LEASE_MS = 15_000

/**
 * One round of work for one account: offer again what no node confirmed, raise what is stuck, submit what is pending.
 * Does nothing while another process holds the account.
 */
export async function workAccount(context: TransactionsContext, relayerId: string): Promise<void> {
  const relayer = await findRelayer(context.db, relayerId)
  if (relayer === undefined) return
  const lease = await acquireLease(context.db, {
    name: `account:${relayerId}`,
    owner: context.owner,
    ttlMs: LEASE_MS,
  })
  if (lease === undefined) return
  const held = { relayer, operator: context.operatorOf(relayer), lease }
  try {
    // Switched off, it signs nothing new; what is signed stays on its way.
    const signs = !relayer.paused && !relayer.systemDisabled
    const due = await findDue(context, relayerId)
    if (due.length > 0 && signs) await raiseOverdue(context, held, due)
    if (due.length > 0) await repeatBroadcasts(context, held)
    if (signs) await submitPending(context, held)
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error
    context.log.warn({ relayer: relayerId }, 'another process took the account over; this step was given up')
  } finally {
    await releaseLease(context.db, lease)
  }
}

/** Signed bytes that no node took yet, and bytes that a pool may have lost: the same bytes again, in nonce order. */
async function repeatBroadcasts(
  context: TransactionsContext,
  { relayer, operator }: HeldAccount,
): Promise<void> {
  const due = await findDue(context, relayer.id)
  const attempts = await findAttempts(context.db, due)
  const items = due.map((transaction) => ({ transaction, attempts: attempts.get(transaction.id) ?? [] }))
  await broadcastCurrent(context, operator, items)
}

function findDue({ db, clock }: TransactionsContext, relayerId: string) {
  return findDueInFlight(db, relayerId, new Date(clock.now()))
}
