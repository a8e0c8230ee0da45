import type { Answer } from '../../chains/answer.ts'
import type { Prepared, SetupRequired } from '../../chains/attempt.ts'
import type { ExternalNonce } from '../../chains/capabilities.ts'
import type { Chain } from '../../chains/chain.ts'
import type { ChainRequest } from '../../chains/request.ts'
import type { Tx } from '../../database/db.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { type After, afterReason } from '../model/after.ts'
import { isForLater } from '../model/due.ts'
import { requireAnswer } from '../model/require-answer.ts'
import { accountOf, isExternallySigned, type RelayerRuntime } from '../model/runtime.ts'
import { findUsedExternalNonces } from '../store/nonce-store.ts'
import { findWaitingSuccessors } from '../store/queue-store.ts'

/** The longest time in ms for which a transaction can wait for its `valid_from`. */
const LONGEST_SCHEDULE_MS = 30 * 86_400_000

/** The part of a chain that knows how long content stays valid. */
type Lifetime = Pick<Chain, 'endsAt' | 'externalSigning' | 'expiry'>

/**
 * Checks `valid_from` and `valid_until` of a request that passed `Chain.check`. `now` is in ms since the
 * epoch. Pure.
 */
export function checkTimes(chain: Lifetime, request: ChainRequest, now: number): AppError | undefined {
  const end = chain.endsAt(request)
  if (end !== undefined && end.getTime() <= now)
    return new AppError(
      'valid_until_in_past',
      `${fieldOf(request, end)}: a time in the future is expected, not ${end.toISOString()}.`,
    )
  return (
    checkCondition(request, now) ??
    (request.validFrom && checkStart(chain, { request, start: request.validFrom, end, now })) ??
    checkLifetime(chain, { request, end, now })
  )
}

/** A condition without an end could wait for ever. */
function checkCondition({ when, validUntil, validFrom }: ChainRequest, now: number): AppError | undefined {
  if (when === undefined) return undefined
  const end = when.until ?? validUntil
  if (end === undefined)
    return invalid(
      `when: expected with valid_until, at which it is ${when.atEnd === 'send' ? 'sent whatever the fee is' : 'given up'}.`,
    )
  if (end.getTime() <= now)
    return new AppError(
      'valid_until_in_past',
      `valid_until: a time in the future is expected, not ${end.toISOString()}.`,
    )
  return validFrom !== undefined && end <= validFrom
    ? invalid(
        `valid_until: a time after valid_from (${validFrom.toISOString()}) is expected, not ${end.toISOString()}.`,
      )
    : undefined
}

/** Nodes refuse content that ends too soon after they get it, which is when it is signed. */
function checkLifetime(
  { expiry }: Lifetime,
  { request, end, now }: Omit<Start, 'start'>,
): AppError | undefined {
  const lifetimeMs = expiry?.minLifetimeMs
  if (lifetimeMs === undefined || end === undefined) return undefined
  const start = Math.max(now, request.validFrom?.getTime() ?? now)
  const shortest = new Date(start + lifetimeMs)
  if (end >= shortest) return undefined
  const from = start > now ? 'valid_from' : 'now'
  return invalid(
    `${fieldOf(request, end)}: at least ${lifetimeMs / 1_000} s from ${from} are expected (${shortest.toISOString()}), not ${end.toISOString()}; the nodes of this network refuse earlier ones.`,
  )
}

/** The end is that of the request, or an earlier one in its transaction. */
function fieldOf({ validUntil }: ChainRequest, end: Date): string {
  return validUntil !== undefined && validUntil <= end ? 'valid_until' : 'transaction_xdr'
}

interface Start {
  readonly request: ChainRequest
  readonly start: Date
  readonly end: Date | undefined
  readonly now: number
}

function checkStart(chain: Lifetime, { request, start, end, now }: Start): AppError | undefined {
  const latest = new Date(now + LONGEST_SCHEDULE_MS)
  if (start > latest)
    return invalid(`valid_from: at most 30 days from now is expected (${latest.toISOString()}).`)
  if (end !== undefined && end <= start)
    return invalid(
      `valid_until: a time after valid_from (${start.toISOString()}) is expected, not ${end.toISOString()}.`,
    )
  return isSignedByOthers(chain, request)
    ? invalid(
        'valid_from: not expected with content that others have signed, because their signatures cannot wait; send it when its time comes.',
      )
    : undefined
}

/** Checks a request that waits for another transaction. Pure. */
export function checkAfter(chain: Lifetime, request: ChainRequest): AppError | undefined {
  return isSignedByOthers(chain, request)
    ? invalid(
        'after: not expected with content that others have signed, because their signatures cannot wait; send it when the other transaction has come first.',
      )
    : undefined
}

/** The nonce or the blockhash of such content is used or has expired when its time comes. */
function isSignedByOthers({ externalSigning, expiry }: Lifetime, request: ChainRequest): boolean {
  return externalSigning?.nonceOf(request) !== undefined || expiry?.reSignable(request) === false
}

function invalid(detail: string): AppError {
  return new AppError('invalid_request', detail)
}

/** Refusals that another state of the chain can lift. */
const OF_PRESENT_STATE: ReadonlySet<ErrorCode> = new Set([
  'execution_reverted',
  'insufficient_balance',
  'account_not_found',
])

/** The content of an unsigned transaction. */
interface NewContent {
  readonly relayer: Relayer
  readonly request: ChainRequest
  readonly chain: Chain
  /** In ms since the epoch. */
  readonly now: number
  /** Another transaction that must come first. */
  readonly after?: After | undefined
}

/**
 * Prepares content for its acceptance. The state of the chain at `valid_from`, or after another transaction,
 * is not known, so a request that waits is refused for nothing that may change until then, and no estimate is kept for it.
 */
export async function prepareContent({
  relayer,
  request,
  chain,
  now,
  after,
}: NewContent): Promise<Answer<Prepared> | SetupRequired> {
  const answer = await chain.prepare(request, accountOf(relayer))
  const waits = [
    ...(request.validFrom !== undefined && isForLater(request, now) ? [waitLog(request.validFrom)] : []),
    ...(after === undefined
      ? []
      : [`${withoutStop(afterReason(after))}; nothing is signed or reserved before.`]),
  ]
  if (waits.length === 0) return answer
  if (answer.kind === 'ok') {
    const { knownGas: _, ...prepared } = answer.value
    return { kind: 'ok', value: { ...prepared, logs: [...waits, ...prepared.logs] } }
  }
  if (answer.kind !== 'refused' || !OF_PRESENT_STATE.has(answer.refusal.code)) return answer
  return { kind: 'unknown', detail: `it would be refused now (${withoutStop(answer.refusal.detail)})` }
}

function waitLog(start: Date): string {
  return `It waits until ${start.toISOString()}; nothing is signed or reserved before.`
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}

const NO_SPECIFICATION =
  'No node of the network returned the specification of the contract, so nothing was changed. Try again, or send args.'

/**
 * Encodes the named arguments of a request. It runs before every rule, which then only sees the encoded call,
 * and after the check of the idempotency key: a repeated request gets its transaction even if no node
 * answers, or the contract has changed. @throws AppError `network_unavailable` if no node returns the
 * specification, or `invalid_request` with the argument that does not fit
 */
export async function withEncodedArgs(chain: Chain, request: ChainRequest): Promise<ChainRequest> {
  const answer = await chain.encodeNamedArgs?.(request)
  return answer === undefined ? request : requireAnswer(answer, NO_SPECIFICATION)
}

/** The nonces of a relayer to look for. */
interface NonceQuestion {
  readonly relayerId: string
  readonly nonces: readonly ExternalNonce[]
  /** This transaction is left out. */
  readonly except?: string
}

/** The key of a nonce in the sets of this file. */
export function keyOf({ address, nonce }: ExternalNonce): string {
  return `${address} ${nonce}`
}

/**
 * Finds the nonces of third parties that a transaction of the relayer has, or gets when its earlier version
 * has expired. The caller holds a lock on the relayer.
 */
export async function usedExternalNonces(
  tx: Tx,
  { chain }: RelayerRuntime,
  { relayerId, nonces, except }: NonceQuestion,
): Promise<Set<string>> {
  if (nonces.length === 0) return new Set()
  // In this order: the watcher, which takes no lock, moves a nonce from a waiting request to its record, and
  // never back.
  const successors = await findWaitingSuccessors(tx, relayerId)
  const used = await findUsedExternalNonces(tx, relayerId, nonces)
  for (const { id, request } of successors) {
    const waiting = id === except ? undefined : chain.externalSigning?.nonceOf(request)
    if (waiting !== undefined) used.add(keyOf(waiting))
  }
  return used
}

/** Gives the reason why content with this nonce cannot be accepted; undefined if it can. */
export function externalNonceProblem(
  runtime: RelayerRuntime,
  externalNonce: ExternalNonce,
  used: ReadonlySet<string> = new Set(),
): AppError | undefined {
  const { address, nonce } = externalNonce
  if (!isExternallySigned(runtime, { sourceAccount: address })) {
    return new AppError(
      'not_supported',
      `transaction_xdr: the sequence numbers of ${address} are assigned by the service. Send the operations, or the transaction unsigned.`,
    )
  }
  if (!used.has(keyOf(externalNonce))) return undefined
  return new AppError(
    'already_accepted',
    `transaction_xdr: sequence number ${nonce} of ${address} was accepted before; list the transactions to find it.`,
  )
}
