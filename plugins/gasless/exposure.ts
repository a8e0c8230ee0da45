import type { Hex } from 'viem'
import {
  admit,
  blockOf,
  type Checked,
  type Claim,
  type ExposureRules,
  type Found,
  type Open,
  settle,
} from '../shared/exposure.ts'
import { ApiRefusal, type World } from '../shared/host.ts'
import { digest, findByKey, isEnded, readWhole } from '../shared/transactions.ts'
import type { Settings } from './config.ts'
import { contentOf, type RelayedTransaction } from './content.ts'
import { RpcError } from './errors.ts'
import type { Payment, User } from './intent.ts'
import { readOutcome } from './outcome.ts'
import type { Sender } from './sender.ts'

/** A request of which the service knows nothing after this time was never sent, in ms. */
const UNSENT_MS = 60_000

/** What is asked to be admitted. */
export interface Admission {
  readonly users: readonly User[]
  readonly payment: Omit<Payment, 'funds'> | undefined
  /** The idempotency key of the transaction. */
  readonly key: string
  /** The id of the API key that asks: users of one cannot use up the failures of another. */
  readonly caller: string
}

/**
 * Checks and sends a request, alone among those of each of its users and of who pays for it: what waits keeps
 * its nonce and its authorization, and what failed at the relayer's cost counts. @throws RpcError
 */
export function admitRequest<Verified extends Checked, Result>(
  { users, payment, key, caller }: Admission,
  context: ExposureContext,
  { check, send }: { check(): Promise<Verified>; send(verified: Verified): Promise<Result> },
): Promise<Result> {
  const rules = rulesOf(context)
  const { chainId } = context.sender.network
  // In one order for all requests, so that two with the same users do not wait for each other.
  const ordered = partsOf(users, payment).sort((one, other) => (one.owner < other.owner ? -1 : 1))
  const next = (index: number, checked: Verified | undefined): Promise<Result> => {
    const part = ordered[index]
    if (part === undefined) {
      if (checked === undefined) throw new Error('a request has no user')
      return send(checked)
    }
    return admit(claimOf({ part, key, caller, chainId }), rules, {
      check: async () => checked ?? (await check()),
      send: (verified) => next(index + 1, verified),
    })
  }
  return next(0, undefined)
}

/** What a request keeps from the others of one account. */
interface Part {
  readonly owner: Hex
  /** Whose failure is one of the owner. */
  readonly user: Hex
  readonly slots: readonly string[]
  readonly unit: string
  readonly amount: bigint
}

function partsOf(users: readonly User[], payment: Admission['payment']): Part[] {
  const parts = users.map(({ address, slots }): Part => {
    const isPaying = payment?.payer === address
    return {
      owner: address,
      user: address,
      slots: isPaying ? [...slots, ...payment.slots] : slots,
      unit: isPaying ? payment.unit : '',
      amount: isPaying ? payment.amount : 0n,
    }
  })
  const [first] = users
  if (payment === undefined || first === undefined || users.some(({ address }) => address === payment.payer))
    return parts
  return [...parts, { ...payment, owner: payment.payer, user: first.address }]
}

/** What the rules need. */
export interface ExposureContext {
  readonly settings: Settings
  readonly sender: Sender
  readonly world: World
}

/** Returns the rules of a network. */
function rulesOf({ settings, sender, world }: ExposureContext): ExposureRules {
  return {
    world,
    limits: settings.failures,
    words: { payer: 'user', payments: 'requests' },
    look: (open) => look(open, sender, world),
    overLimit: (message) => new RpcError('rateLimit', `${message} Try again later.`),
    underfunded: (message) => new RpcError('rejected', message),
    occupied: (slot) => new RpcError(...occupiedBy(slot)),
    isRefusal: (error) => error instanceof RpcError || error instanceof ApiRefusal,
  }
}

/** Names a user among the values of the plugin. */
function payerOf(chainId: number, user: Hex): string {
  return `${chainId}:${user}`
}

function occupiedBy(slot: string): ['invalidAuthorizationList' | 'rejected', string] {
  if (slot.endsWith(' authorization'))
    return [
      'invalidAuthorizationList',
      'authorizationList: another authorization of this account waits for its block. Send again when it is included.',
    ]
  return slot.startsWith('payment ')
    ? ['rejected', 'data: another request with this payment waits for its block.']
    : ['rejected', 'nonce: another request with this nonce waits for its block.']
}

function claimOf({
  part: { owner, user, slots, unit, amount },
  key,
  caller,
  chainId,
}: {
  readonly part: Part
  readonly key: string
  readonly caller: string
  readonly chainId: number
}): Claim {
  return {
    payer: payerOf(chainId, owner),
    group: `${chainId}:${digest([caller])}`,
    // The user stands in place of a payee, so that whoever looks at it knows whose it is.
    entry: { key, unit, amount: String(amount), payee: user, slots },
  }
}

/** Notes what became of what was open of users, so that nothing of it has to be looked up later. */
export async function settleUsers(users: readonly Hex[], context: ExposureContext): Promise<void> {
  const rules = rulesOf(context)
  for (const user of users) await settle(payerOf(context.sender.network.chainId, user), rules)
}

async function look({ key, at, payee }: Open, sender: Sender, world: World): Promise<Found> {
  const { relayerId } = sender.network
  const found = await findByKey<RelayedTransaction>(relayerId, key, world)
  if (found === undefined) return { end: world.now() - at > UNSENT_MS ? 'ended' : 'open', block: undefined }
  if (!isMade(found.status)) return endOf(found, false)
  const whole = await readWhole<RelayedTransaction>(relayerId, found, world)
  return endOf(whole, await isFailureOf(payee as Hex, whole, sender))
}

function isMade(status: string): boolean {
  return status === 'mined' || status === 'confirmed'
}

async function isFailureOf(user: Hex, transaction: RelayedTransaction, sender: Sender): Promise<boolean> {
  const content = contentOf(sender.network.chainId, transaction)
  if (content === undefined || transaction.hash === undefined) return false
  const outcome = await readOutcome(content, transaction.hash, sender)
  if (outcome.kind === 'unknown') return outcome.isByUser === true
  return outcome.failures.has(user) || outcome.isShort === true
}

/** Names the caller who pays, and the user for whom a request is: users of one key are not those of another. */
export function userIdOf(caller: string, users: readonly { readonly address: Hex }[]): string {
  const [user, ...others] = users
  return `${caller.slice(0, 80)}/${others.length === 0 && user !== undefined ? user.address : '(several)'}`
}

/** Tells what became of a request of one user, whose part in it failed or not. */
function endOf(transaction: RelayedTransaction, hasFailed: boolean): Found {
  const { status, hash } = transaction
  const block = blockOf(transaction)
  if (isEnded(status)) return { end: status === 'failed' && hash !== undefined ? 'failed' : 'ended', block }
  if (status === 'confirmed') return { end: hasFailed ? 'failed' : 'ended', block }
  if (status === 'mined') return { end: hasFailed ? 'reverted' : 'included', block }
  return { end: 'open', block: undefined }
}
