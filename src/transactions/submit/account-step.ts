import { acquireLease, LeaseLostError, releaseLease } from '../../database/lease.ts'
import { rebroadcastDue } from '../broadcast/rebroadcast.ts'
import { raiseOverdue } from '../broadcast/speed-up.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { findDueInFlight } from '../store/work-store.ts'
import { submitPending } from './submit.ts'

/**
 * How long an account stays ours without another step, in ms. It must outlast the longest step, which is a few RPC
 * time-outs; every write is fenced, or bound to the version that was read, so a step that is too slow loses its work and nothing else.
 */
const LEASE_MS = 15_000

/**
 * One round of work for one account: offer again what no node confirmed, raise what is stuck, submit what is pending.
 * Does nothing while another process holds the account.
 */
export async function workAccount(context: TransactionsContext, relayerId: string): Promise<void> {
  const relayer = await context.relayerOf(relayerId)
  if (relayer === undefined) return
  const lease = await acquireLease(context.db, {
    name: `account:${relayerId}`,
    owner: context.owner,
    ttlMs: LEASE_MS,
  })
  if (lease === undefined) return
  const leased = { relayer, runtime: context.runtimeOf(relayer), lease }
  try {
    // Switched off, it signs nothing new; what is signed stays on its way.
    const signs = !relayer.paused && !relayer.systemDisabled
    const findDue = () => findDueInFlight(context.db, relayerId, new Date(context.clock.now()))
    const due = await findDue()
    const changed = due.length > 0 && signs && (await raiseOverdue(context, leased, due))
    await rebroadcastDue(context, leased, changed ? await findDue() : due)
    if (signs) await submitPending(context, leased)
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error
    context.log.warn({ relayer: relayerId }, 'another process took the account over; this step was given up')
  } finally {
    await releaseLease(context.db, lease)
  }
}
