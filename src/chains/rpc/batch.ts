import type { Clock } from '../../lib/time.ts'
import type { Failure } from '../../networks/endpoints.ts'
import type { NodeErrorRules } from './node-dialect.ts'
import { type PostResult, post } from './post.ts'
import type { RpcCall, RpcObserver, RpcReply } from './rpc.ts'
import {
  type AnswerAllowance,
  type AnswerLimits,
  forwardedAllowance,
  ownAllowance,
  type Transport,
} from './transport.ts'

/**
 * The answers of one endpoint to many calls. A `failure` may come with replies when the endpoint stopped
 * answering halfway.
 */
export interface BatchOutcome {
  /** In the order of the calls; `unknown` where it did not answer. */
  readonly replies: readonly RpcReply[]
  readonly failure?: Failure
}

/**
 * The batch sizes that are tried, in calls. Public endpoints refuse more than a hundred; some accept ten,
 * some no batch at all.
 */
const BATCH_SIZES = [100, 10, 1] as const

/**
 * This many requests run at once when an endpoint accepts only small batches and the order does not matter.
 */
const SIDE_BY_SIDE = 8

export interface BatchRequest {
  readonly url: string
  readonly calls: readonly RpcCall[]
  /** The longest that one HTTP request may take, in ms. */
  readonly timeoutMs: number
  /** The time by which all requests must end, in ms of the monotonic clock. */
  readonly deadline: number
  /**
   * HTTP requests run one after the other: transactions of an account must arrive in the order of their
   * nonces.
   */
  readonly inOrder: boolean
  /**
   * The calls come from an API caller: numbers in replies keep their spelling, and the endpoint's reaction
   * teaches nothing about its limits.
   */
  readonly forwarded: boolean
}

interface BatchSenderOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** Returns the transport for a url. */
  readonly transportOf: (url: string) => Transport
  readonly observer?: RpcObserver | undefined
  readonly errors: NodeErrorRules
  /** The most that one HTTP request holds, in bytes. */
  readonly maxRequestBytes: number
  /** The methods whose answers may be larger than others. */
  readonly largeAnswers?: Readonly<Record<string, AnswerLimits>> | undefined
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}

/** A request, and what its answers may hold. */
interface Allowed extends BatchRequest {
  readonly allowance: AnswerAllowance
}

/** The limits of one HTTP request. */
interface RequestLimits {
  readonly calls: number
  readonly bytes: number
}

/**
 * Creates a sender that calls one endpoint in batches as large as it accepts, and remembers that size. The
 * first batch goes alone: its reply shows whether the size is right, and a height in it is not newer than the
 * replies that follow.
 */
export function createBatchSender({
  clock,
  transportOf,
  observer,
  errors,
  maxRequestBytes,
  largeAnswers = {},
}: BatchSenderOptions): (request: BatchRequest) => Promise<BatchOutcome> {
  const learned = new Map<string, RequestLimits>()

  async function ask(
    { url, timeoutMs, deadline, forwarded, allowance }: Allowed,
    calls: readonly RpcCall[],
  ): Promise<PostResult> {
    const start = performance.now()
    const results = await post({
      url,
      calls,
      timeoutMs: Math.max(1, Math.min(timeoutMs, deadline - clock.monotonic())),
      now: () => clock.now(),
      verbatim: forwarded,
      transport: transportOf(url),
      limits: allowance.limitsFor(calls),
      errors,
    })
    if (results.kind === 'replies') allowance.spend(results.size)
    observer?.asked({
      host: hostOf(url),
      methods: calls.map(({ method }) => method),
      seconds: (performance.now() - start) / 1000,
      failure: results.kind === 'failed' ? results.failure.kind : refusal(results),
    })
    return results
  }

  async function askWithin(request: Allowed, limits: RequestLimits): Promise<BatchOutcome> {
    const { calls, inOrder } = request
    const asked = cutBatches(calls, limits)
    const [first = []] = asked
    const opening = await ask(request, first)
    const smaller = smallerLimits(limits, first, opening)
    if (opening.kind === 'answer_too_large' && smaller !== undefined) return askWithin(request, smaller)
    if (smaller !== undefined) return askAgain(request, limits, smaller)
    const results: PostResult[] = [opening]
    while (results.length < asked.length && results.every(mayContinue)) {
      const next = asked.slice(results.length, results.length + (inOrder ? 1 : SIDE_BY_SIDE))
      results.push(...(await Promise.all(next.map((piece) => ask(request, piece)))))
    }
    return join(results, asked)
  }

  async function askAgain(
    request: Allowed,
    limits: RequestLimits,
    smaller: RequestLimits,
  ): Promise<BatchOutcome> {
    const { url, forwarded } = request
    if (!forwarded) learned.set(url, smaller)
    const answer = await askWithin(request, smaller)
    // The endpoint refused each call alone as well, so the size was not the reason.
    if (!forwarded && answer.replies.every((reply) => reply.kind === 'unknown')) learned.set(url, limits)
    return answer
  }

  return (request) => {
    const allowance = request.forwarded ? forwardedAllowance() : ownAllowance(largeAnswers)
    const limits = learned.get(request.url) ?? { calls: BATCH_SIZES[0], bytes: maxRequestBytes }
    return askWithin({ ...request, allowance }, limits)
  }
}

/**
 * Returns smaller limits after a batch that was refused, or answered with too much, because of its size;
 * undefined if the size was not the reason.
 */
function smallerLimits(
  limits: RequestLimits,
  batch: readonly RpcCall[],
  { kind }: PostResult,
): RequestLimits | undefined {
  const bytes = bytesOf(batch)
  const isTooLong = (kind === 'too_large' || kind === 'answer_too_large') && batch.length > 1
  if (kind === 'too_large' && isTooLong && bytes > SMALL_BODY_BYTES)
    return { ...limits, bytes: Math.floor(bytes / 2) }
  if (kind !== 'batch_refused' && !isTooLong) return undefined
  return { ...limits, calls: BATCH_SIZES.find((smaller) => smaller < batch.length) ?? 1 }
}

/** An answer that is too large says nothing about the other calls. */
function mayContinue({ kind }: PostResult): boolean {
  return kind === 'replies' || kind === 'answer_too_large'
}

/**
 * No server refuses so short a body for its length, in bytes, so its HTTP 413 is about the number of calls.
 */
const SMALL_BODY_BYTES = 10_000

function refusal({ kind }: PostResult): 'batch_refused' | 'answer_too_large' | undefined {
  if (kind === 'answer_too_large') return kind
  return kind === 'batch_refused' || kind === 'too_large' ? 'batch_refused' : undefined
}

/** Cuts the calls into batches in their order; a call longer than `bytes` goes alone. */
function cutBatches(calls: readonly RpcCall[], limits: RequestLimits): RpcCall[][] {
  const batches: RpcCall[][] = []
  let freeBytes = 0
  for (const call of calls) {
    const bytes = bytesOf([call])
    const last = batches.at(-1)
    if (last !== undefined && last.length < limits.calls && bytes <= freeBytes) {
      last.push(call)
      freeBytes -= bytes
    } else {
      batches.push([call])
      freeBytes = limits.bytes - bytes
    }
  }
  return batches
}

/**
 * The bytes around the method and the parameters of a call:
 * `{"jsonrpc":"2.0","id":1000,"method":…,"params":…},`.
 */
const CALL_OVERHEAD_BYTES = 60

/**
 * Estimates the length, which costs less than writing each call twice. Our own calls are ASCII; where the
 * estimate is too low, HTTP 413 corrects it.
 */
function bytesOf(calls: readonly RpcCall[]): number {
  return calls.reduce(
    (sum, { method, params }) => sum + CALL_OVERHEAD_BYTES + method.length + jsonLength(params),
    0,
  )
}

/** The longest number that JSON.stringify writes, in bytes. */
const NUMBER_BYTES = 25

function jsonLength(value: unknown): number {
  if (typeof value === 'string') return value.length + 3
  if (typeof value !== 'object' || value === null) return NUMBER_BYTES
  return Object.entries(value).reduce((sum, [key, field]) => sum + key.length + 4 + jsonLength(field), 2)
}

function join(results: readonly PostResult[], asked: readonly (readonly RpcCall[])[]): BatchOutcome {
  const replies = asked.flatMap((piece, index): readonly RpcReply[] => {
    const answer = results[index]
    if (answer?.kind === 'replies') return answer.replies
    const tooLarge = answer?.kind === 'answer_too_large' ? { tooLarge: true as const } : {}
    return piece.map(() => ({ kind: 'unknown', detail: detailOf(answer), ...tooLarge }))
  })
  const failure = results.map(failureOf).find((one) => one !== undefined)
  return failure === undefined ? { replies } : { replies, failure }
}

function detailOf(results: PostResult | undefined): string {
  if (results?.kind === 'failed') return results.failure.detail
  return results === undefined || results.kind === 'replies' ? 'not asked any more' : results.detail
}

/**
 * One call that is too large for the endpoint, or whose answer is, says nothing about the endpoint's health:
 * callers can choose such calls.
 */
function failureOf(results: PostResult): Failure | undefined {
  if (results.kind === 'failed') return results.failure
  return results.kind === 'batch_refused' ? { kind: 'down', detail: results.detail } : undefined
}
