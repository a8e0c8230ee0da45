import { noteEnd } from '../shared/exposure.ts'
import { normalized } from '../shared/fields.ts'
import { ApiRefusal, callApi, locked, type World } from '../shared/host.ts'
import { digest, findByKey, isEnded, type SentTransaction } from '../shared/transactions.ts'
import { countIn } from '../shared/windows.ts'
import type { Asked } from './asked.ts'
import type { Settings } from './config.ts'
import { admitApproval, claimOfApproval } from './exposure.ts'
import { findTransaction, lookAgain, refusalOf } from './once.ts'
import { Refusal } from './refusal.ts'
import type { PendingApproval } from './scheme.ts'

interface Work {
  readonly settings: Settings
  readonly world: World
  /** In milliseconds. */
  readonly deadline: number
}

/**
 * Brings the approval that came with a payment as a signed transaction into a block, if the payment needs it:
 * gives the payer the gas that he lacks, then his transaction to a node. The payer can take the gas and
 * approve nothing, because no chain does both at once; what is given is bounded for each payer and in all,
 * and a payer who does so fails. @throws Refusal if the approval is in no block in time
 */
export async function approveFirst(asked: Asked, work: Work): Promise<void> {
  const { payment } = asked
  const { world, deadline } = work
  if (!payment.bringsTransaction || (await findTransaction(asked, world)) !== undefined) return
  const { approval } = await payment.verify({ now: world.now(), deadline })
  if (approval === undefined) return
  const claim = claimOfApproval(asked, approvalKey(asked, approval))
  const needsGas = approval.lacks > 0n
  const hasGas = !needsGas || (await fund(asked, approval, work))
  const isApproved = hasGas && (await untilApproved(approval, work))
  // Who got nothing can have taken nothing.
  const end = isApproved || !hasGas ? 'ended' : 'failed'
  if (needsGas) await noteEnd(claim, { end, block: undefined }, world)
  if (isApproved) return
  throw new Refusal(
    'erc20_approval_broadcast_failed',
    `The approval that came with the payment, ${approval.hash}, is in no block in time, and the payment is not sent.`,
    payment.payer,
  )
}

/** Names what a payer gets for one approval: the transaction that brings it has this idempotency key. */
function approvalKey({ request }: Asked, { hash }: PendingApproval): string {
  return `x402-approval:${digest([request.network.network, hash])}`
}

/**
 * Gives the payer what he lacks, once for each approval. Returns true if a block has it in time; what is in
 * none by then expires.
 */
async function fund(asked: Asked, approval: PendingApproval, work: Work): Promise<boolean> {
  const { world, deadline } = work
  const { relayerId } = asked.request.network
  let seen = await fundOnce(asked, approval, work)
  while (!isIncluded(seen)) {
    const left = deadline - world.now()
    if (isEnded(seen.status) || left <= 0) return false
    seen = await lookAgain(relayerId, { seen, waitFor: 'mined', left }, world)
  }
  return true
}

function isIncluded({ status }: SentTransaction): boolean {
  return status === 'mined' || status === 'confirmed'
}

function fundOnce(
  asked: Asked,
  approval: PendingApproval,
  { settings, world, deadline }: Work,
): Promise<SentTransaction> {
  const { request, payment } = asked
  const { relayerId, network } = request.network
  const key = approvalKey(asked, approval)
  return locked(world, `${key}:lock`, async () => {
    const found = await findByKey(relayerId, key, world)
    if (found) return found
    return admitApproval(asked, { key, settings, world }, async () => {
      await countGas(asked, approval, world)
      const seconds = Math.max(1, Math.floor((deadline - world.now()) / 1000))
      const path = `/api/v1/relayers/${encodeURIComponent(relayerId)}/transactions?max_queue_seconds=${seconds}`
      const body = {
        to: payment.payer,
        value: approval.lacks.toString(),
        // Who was told that it failed gets nothing later.
        valid_until: new Date(deadline).toISOString(),
        reference: `x402-approval:${normalized(request.requirements.payTo)}`,
      }
      const sent = await callApi(world, { method: 'POST', path, body, idempotencyKey: key }).catch(
        (error: unknown) => {
          throw error instanceof ApiRefusal ? refusalOf(error, payment) : error
        },
      )
      console.info(`${approval.lacks} wei for the approval of ${payment.payer} on ${network}`)
      return sent as SentTransaction
    })
  })
}

const DAY_SECONDS = 86_400

/** Counts it before it is sent: a bound may be reached too early, never too late. */
async function countGas(
  { request, payment }: Asked,
  { lacks }: PendingApproval,
  world: World,
): Promise<void> {
  const { network, approvalGas } = request.network
  if (approvalGas === undefined) return
  for (const per of ['payer', 'all'] as const) {
    const window = { per, windowSeconds: DAY_SECONDS, times: undefined, amount: approvalGas[per] }
    const beyond = () =>
      new Refusal(
        'limit_exceeded',
        `The gas of approvals that the relayer pays for within a day is used up (${per}).`,
        payment.payer,
      )
    const who = ['approval', network, per === 'payer' ? payment.payer : '']
    await countIn(window, { who, amount: lacks, beyond }, world)
  }
}

/** Between two looks at an approval, and between two times that a node gets it, in ms. */
const LOOK_MS = 500
const REPEAT_MS = 5_000

/** Nodes that answer at the same moment differ by a block for less than this time, in ms. */
const BEHIND_MS = 5_000

/** Gives the approval to a node until a block has it. Returns false if none has it in time. */
async function untilApproved(approval: PendingApproval, { world, deadline }: Work): Promise<boolean> {
  let given = 0
  let lostSince: number | undefined
  for (;;) {
    const now = world.now()
    if (now - given >= REPEAT_MS) {
      await approval.broadcast()
      given = now
    }
    const state = await approval.state()
    if (state === 'approved') return true
    lostSince = state === 'lost' ? (lostSince ?? now) : undefined
    if (world.now() >= deadline || (lostSince !== undefined && now - lostSince >= BEHIND_MS)) return false
    await world.sleep(LOOK_MS)
  }
}
