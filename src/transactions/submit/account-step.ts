import { LeaseLostError } from '../../database/lease.ts'
import { isSignerFault } from '../../signers/signer.ts'
import type { TransactionsContext } from '../model/runtime.ts'
import { findDueInFlight } from '../store/due-store.ts'
import { compareRefused, rebroadcastDue } from './rebroadcast.ts'
import { raiseOverdue, unblock } from './speed-up.ts'
import { isReset, submitPending } from './submit.ts'

/**
 * Runs one step for one account: it raises fees, broadcasts again what is due, and submits pending
 * transactions. It does nothing while another process has leased the account. Every write is guarded by the
 * fence of the lease or by the version that was read, so a step that is too slow loses its own work and
 * nothing else.
 */
export async function workAccount(context: TransactionsContext, relayerId: string): Promise<void> {
  const relayer = await context.relayerOf(relayerId)
  if (relayer === undefined) return
  const lease = await context.share.lease(relayerId)
  if (lease === undefined) return
  let lost = false
  const leased = { relayer, runtime: context.runtimeOf(relayer), lease }
  try {
    // A paused or disabled relayer signs nothing new. Its signed transactions are still broadcast.
    const maySign = !relayer.paused && !relayer.systemDisabled
    const findDue = () => findDueInFlight(context.db, relayerId, new Date(context.clock.now()))
    const due = await findDue()
    // Bytes for the old chain would also be valid on the new one.
    if (due.length > 0 && (await isReset(context, leased))) return
    const changed =
      due.length > 0 &&
      maySign &&
      (await unlessKeyFails(context, relayerId, () => raiseOverdue(context, leased, due)))
    const { queuedInPool, refused } = await rebroadcastDue(context, leased, changed ? await findDue() : due)
    if (queuedInPool && maySign)
      await unlessKeyFails(context, relayerId, () => unblock(context, leased, queuedInPool))
    if (maySign) await unlessKeyFails(context, relayerId, () => compareRefused(context, leased, refused))
    if (maySign) await submitPending(context, leased)
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error
    lost = true
    context.log.warn({ relayer: relayerId }, 'account lease lost to another process; step abandoned')
  } finally {
    await context.share.release(relayerId, { lost })
  }
}

/**
 * A key that cannot be used does not prevent rebroadcasts: those bytes are signed. Returns undefined for such
 * a key.
 */
async function unlessKeyFails<T>(
  { log }: TransactionsContext,
  relayerId: string,
  step: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await step()
  } catch (error) {
    if (!isSignerFault(error)) throw error
    log.warn({ relayer: relayerId, problem: error.detail }, 'signature failed; the fee is not raised now')
    return undefined
  }
}
