import type { Chain } from '../../chains/chain.ts'
import type { ChainRequest } from '../../chains/request.ts'
import { AppError } from '../../errors.ts'

/** The longest time in ms for which a transaction can wait for its `valid_from`. */
const LONGEST_SCHEDULE_MS = 30 * 86_400_000

/** The part of a chain that knows how long content stays valid. */
type Lifetime = Pick<Chain, 'endsAt' | 'externalSigning' | 'expiry'>

/** Checks `valid_from` and `valid_until` of a request that passed `Chain.check`. `now` is in ms since the epoch. Pure. */
export function checkTimes(chain: Lifetime, request: ChainRequest, now: number): AppError | undefined {
  const end = chain.endsAt(request)
  if (end !== undefined && end.getTime() <= now)
    return new AppError(
      'valid_until_in_past',
      `${fieldOf(request, end)}: a time in the future is expected, not ${end.toISOString()}.`,
    )
  return (
    (request.validFrom && checkStart(chain, { request, start: request.validFrom, end, now })) ??
    checkLifetime(chain, { request, end, now })
  )
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
    `${fieldOf(request, end)}: at least ${lifetimeMs / 1_000} s from ${from} are expected (${shortest.toISOString()}), not ${end.toISOString()}; the nodes of this network refuse what ends sooner.`,
  )
}

/** The end is that of the request, or an earlier one in the transaction that it brings. */
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

/** The nonce or the blockhash of such content is used or has expired when its time comes. */
function isSignedByOthers({ externalSigning, expiry }: Lifetime, request: ChainRequest): boolean {
  return externalSigning?.nonceOf(request) !== undefined || expiry?.reSignable(request) === false
}

function invalid(detail: string): AppError {
  return new AppError('invalid_request', detail)
}
