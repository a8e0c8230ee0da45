import type { Logger } from 'pino'
import { maskUrl } from '../../lib/http/mask-url.ts'
import type { Clock } from '../../lib/time.ts'
import type { EndpointPool, Failure } from '../../networks/endpoints.ts'
import { type BatchOutcome, createBatchSender } from './batch.ts'
import {
  classifyForwardedError,
  classifyNodeError,
  type NodeDialect,
  type NodeErrorClass,
} from './node-dialect.ts'
import type { EndpointReply, RpcCall, RpcObserver, RpcReply } from './rpc.ts'
import type { Transport } from './transport.ts'

interface EndpointExecutorOptions extends NodeDialect {
  readonly pool: EndpointPool
  /** The longest that one HTTP request may take, in ms. */
  readonly timeoutMs: number
  readonly clock: Clock
  readonly log: Logger
  /** Returns the transport for a url. */
  readonly transportOf: (url: string) => Transport
  readonly observer?: RpcObserver | undefined
}

/** The calls for one endpoint. */
export interface Turn {
  readonly url: string
  readonly calls: readonly RpcCall[]
  /** The time by which everything must end, in ms of the monotonic clock. */
  readonly deadline: number
  /** The height that the endpoint must have reached; undefined for any. */
  readonly asOf: bigint | undefined
  /**
   * The calls come from an API caller: numbers in replies keep their spelling, and the replies do not count
   * for the endpoint's health, because the caller decides the calls.
   */
  readonly forwarded?: boolean
}

export interface TurnTaken {
  readonly replies: readonly EndpointReply[]
  /**
   * Retrying the same endpoint would not help: it used up its time, it is behind, or its response is too
   * large.
   */
  readonly isFinal: boolean
}

/** Creates an executor that calls one endpoint and reports the result to the pool. */
export function createEndpointExecutor(options: EndpointExecutorOptions): (turn: Turn) => Promise<TurnTaken> {
  const { pool, timeoutMs, clock, height, transportOf, observer, errors, maxRequestBytes, largeAnswers } =
    options
  const reporting: ReportOptions = { ...options, outages: createOutageLog(options) }
  const sendBatches = createBatchSender({
    clock,
    transportOf,
    observer,
    errors,
    maxRequestBytes,
    largeAnswers,
  })

  async function put(
    { url, deadline, forwarded = false }: Turn,
    calls: readonly RpcCall[],
    inOrder: boolean,
  ): Promise<BatchOutcome> {
    const batched = await sendBatches({ url, calls, timeoutMs, deadline, inOrder, forwarded })
    if (forwarded) reportForwarded(reporting, url, batched)
    else report(reporting, url, batched)
    const tooLarge = batched.replies.find(isTooLarge)
    if (tooLarge !== undefined)
      options.log.warn({ endpoint: maskUrl(url), detail: tooLarge.detail }, 'RPC answer too large')
    return batched
  }

  /** Requests the height, and the replies of a node that had reached it before it processed the calls. */
  async function putWithHeight(turn: Turn): Promise<BatchOutcome & { readonly height: bigint | undefined }> {
    const opening = await put(turn, height.alone ? [height.call] : [height.call, ...turn.calls], false)
    const [first, ...together] = opening.replies
    const told = first?.kind === 'result' ? height.read(first.result) : undefined
    if (!height.alone) return { ...opening, replies: together, height: told }
    if (turn.calls.length === 0 || told === undefined) {
      const detail = opening.failure?.detail ?? 'the endpoint did not report its height'
      return { ...opening, replies: turn.calls.map(() => ({ kind: 'unknown', detail })), height: told }
    }
    return { ...(await put(turn, turn.calls, false)), height: told }
  }

  return async (turn) => {
    const { url, calls, asOf, forwarded = false } = turn
    const classify = forwarded ? classifyForwardedError : classifyNodeError
    const withHeight = (behind: boolean, failure: Failure | undefined) => (reply: RpcReply) => ({
      ...toEndpointReply(reply, behind, classify(reply, errors)),
      ...(reply.kind === 'unknown' && mayHaveExecuted(failure) && { unanswered: true as const }),
    })
    if (asOf === undefined) {
      const { replies, failure } = await put(turn, calls, true)
      const isFinal = failure?.kind === 'slow' || replies.some(isTooLarge)
      return { replies: replies.map(withHeight(false, failure)), isFinal }
    }
    const { replies, failure, height: told } = await putWithHeight(turn)
    if (told !== undefined) pool.sawHead(url, told)
    const behind = told === undefined || told < asOf
    const isFinal = failure?.kind === 'slow' || replies.some(isTooLarge) || (behind && told !== undefined)
    const read = replies.map(withHeight(behind, failure))
    return { replies: told === undefined ? read : read.map((one) => ({ ...one, head: told })), isFinal }
  }
}

function isTooLarge(reply: RpcReply): reply is RpcReply & { readonly kind: 'unknown' } {
  return reply.kind === 'unknown' && reply.tooLarge === true
}

function report(options: ReportOptions, url: string, { replies, failure }: BatchOutcome): void {
  const classify = (reply: RpcReply) => classifyNodeError(reply, options.errors)
  evaluateHealth(
    options,
    url,
    failure ??
      failureIn(replies, { kind: 'limited', is: (reply) => classify(reply) === 'rate_limit' }) ??
      failureIn(replies, { kind: 'down', is: (reply) => classify(reply) === 'endpoint_failure' }),
  )
}

/**
 * The caller chooses the calls, so they may cause a slow answer, an error or a closed connection. Only a
 * connection that could not be opened, or an unambiguous rate limit, counts against the endpoint.
 */
function reportForwarded(options: ReportOptions, url: string, { replies, failure }: BatchOutcome): void {
  const isRateLimit = (reply: RpcReply) => classifyForwardedError(reply, options.errors) === 'rate_limit'
  const counted = failure?.kind === 'limited' || failure?.unreachable === true ? failure : undefined
  const problem = counted ?? failureIn(replies, { kind: 'limited', is: isRateLimit })
  const answered = replies.length > 0 && replies.every(({ kind }) => kind === 'result')
  if (problem === undefined && !answered) options.pool.notCounted(url)
  else evaluateHealth(options, url, problem)
}

function failureIn(
  replies: readonly RpcReply[],
  { kind, is }: { readonly kind: Failure['kind']; readonly is: (reply: RpcReply) => boolean },
): Failure | undefined {
  const found = replies.find(is)
  return found?.kind === 'error' ? { kind, detail: found.message } : undefined
}

function evaluateHealth({ pool, outages }: ReportOptions, url: string, failure: Failure | undefined): void {
  if (failure === undefined) {
    if (pool.answered(url)) outages.ended(url)
  } else outages.failed(url, failure, pool.failed(url, failure))
}

/** The options of an executor, with what it has said about outages. */
interface ReportOptions extends EndpointExecutorOptions {
  readonly outages: OutageLog
}

/** Logs outages of endpoints: one line when an endpoint goes out of use, and one when it is back. */
interface OutageLog {
  failed(url: string, failure: Failure, isOut: boolean): void
  ended(url: string): void
}

/**
 * An endpoint that goes in and out of use is logged at most once in this time, in ms: a rate-limiting one
 * does so every second. A shorter time fills the log, and a longer one hides outages. Every failure is in the
 * log at level debug, and in the metrics.
 */
const OUTAGE_LINE_MS = 60_000

function createOutageLog({ log, clock }: Pick<EndpointExecutorOptions, 'log' | 'clock'>): OutageLog {
  const outages = new Map<string, { readonly since: number; isTold: boolean }>()
  /** The times of the last lines, by the monotonic clock. */
  const toldAt = new Map<string, number>()
  return {
    failed: (url, { detail }, isOut) => {
      const now = clock.monotonic()
      if (isOut) outages.set(url, { since: now, isTold: false })
      const outage = outages.get(url)
      const line = { endpoint: maskUrl(url), detail }
      // An outage that follows another one closely is logged if it lasts.
      const isDue = now - (toldAt.get(url) ?? Number.NEGATIVE_INFINITY) >= OUTAGE_LINE_MS
      if (outage === undefined || outage.isTold || !isDue)
        return log.debug(line, 'RPC endpoint did not answer')
      outage.isTold = true
      toldAt.set(url, now)
      log.warn(line, 'RPC endpoint out of use')
    },
    ended: (url) => {
      const outage = outages.get(url)
      outages.delete(url)
      if (outage?.isTold !== true) return
      const outForMs = Math.round(clock.monotonic() - outage.since)
      log.info({ endpoint: maskUrl(url), outForMs }, 'RPC endpoint in use again')
    },
  }
}

/** A rate limit says nothing about the call, because the node did not process it. */
function toEndpointReply(reply: RpcReply, behind: boolean, error: NodeErrorClass | undefined): EndpointReply {
  const isLimited = error === 'rate_limit' && reply.kind === 'error'
  const elsewhere = error === 'endpoint_failure' || error === 'missing_data'
  return {
    reply: isLimited ? { kind: 'unknown', detail: reply.message } : reply,
    behind,
    ...(elsewhere && { elsewhere }),
  }
}

/** A connection that never opened, and a rate limit, prove that the node did not process the calls. */
function mayHaveExecuted(failure: Failure | undefined): boolean {
  return failure?.unreachable !== true && failure?.kind !== 'limited'
}
