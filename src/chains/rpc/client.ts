import type { Logger } from 'pino'
import { createBatcher } from '../../lib/concurrency/batcher.ts'
import { backoffMs, type Clock } from '../../lib/time.ts'
import { createEndpointPool, type EndpointPool } from '../../networks/endpoints.ts'
import { DEFAULT_BLOCKTIME_MS, type RpcUrl } from '../../networks/network.ts'
import { createEndpointExecutor } from './endpoint-executor.ts'
import type { NodeDialect } from './node-dialect.ts'
import { writable } from './post.ts'
import type { EndpointReply, PooledClient, RpcCall, RpcObserver, RpcParams } from './rpc.ts'
import { type Transport, trustedTransport } from './transport.ts'

interface RpcClientOptions extends NodeDialect {
  readonly urls: readonly RpcUrl[]
  /** Expected time between blocks, in ms. Default: Ethereum's. */
  readonly blocktimeMs?: number
  /** Calls URLs that API callers chose. If absent, they are not used. */
  readonly guarded?: Transport | undefined
  /** The longest that one HTTP request may take, in ms. */
  readonly timeoutMs: number
  readonly clock: Clock
  /** Returns a number from 0 up to but not including 1. Default `Math.random`. */
  readonly random?: () => number
  readonly log: Logger
  /** Receives a report of each HTTP request. */
  readonly observer?: RpcObserver | undefined
}

/**
 * All attempts of a question together last at most this many time-outs: one endpoint may use up one, and
 * another still has its own.
 */
const TOTAL_TIMEOUT_FACTOR = 2

/**
 * Creates a client for JSON-RPC over HTTP with kept connections, batches and time-outs, which tries another
 * endpoint if one does not answer.
 */
export function createRpcClient(options: RpcClientOptions): PooledClient {
  const {
    urls,
    blocktimeMs = DEFAULT_BLOCKTIME_MS,
    timeoutMs,
    clock,
    random = Math.random,
    log,
    height,
    observer,
    errors,
    maxRequestBytes,
    largeAnswers = {},
  } = options
  const pool = createEndpointPool({ urls, blocktimeMs, now: () => clock.monotonic(), random })
  const transportOf = transportsOf(options)
  const executeOn = createEndpointExecutor({
    pool,
    timeoutMs,
    clock,
    log,
    height,
    transportOf,
    observer,
    errors,
    maxRequestBytes,
    largeAnswers,
  })
  const endpointsToTry = createEndpointIterator({ pool, clock, random })

  async function ask(calls: readonly RpcCall[], asOf?: bigint, forwarded = false): Promise<EndpointReply[]> {
    const detail =
      pool.states().length === 0 ? 'no RPC url is configured' : 'every endpoint requested a pause'
    const answers = calls.map((): EndpointReply => ({ reply: { kind: 'unknown', detail }, behind: true }))
    const deadline = clock.monotonic() + TOTAL_TIMEOUT_FACTOR * timeoutMs
    const excluded = new Set<string>()
    for await (const url of endpointsToTry(excluded, deadline)) {
      const open = [...answers.keys()].filter((index) => !isSettled(answers[index]))
      const openCalls = open.flatMap((index) => calls[index] ?? [])
      const answer = await executeOn({ url, calls: openCalls, deadline, asOf, forwarded })
      for (const [position, index] of open.entries())
        answers[index] = better(answers[index], answer.replies[position])
      if (answers.every(isSettled)) break
      if (answer.isFinal) excluded.add(url)
    }
    return answers
  }

  const askTogether = createBatcher<CallAsOf, EndpointReply, bigint | undefined>({
    keyOf: ({ asOf }) => asOf,
    collectsTurn: true,
    overlaps: true,
    run: (items, asOf) =>
      ask(
        items.map(({ call }) => call),
        asOf,
      ),
  })

  return {
    send: async (calls) => (calls.length === 0 ? [] : (await ask(calls)).map(({ reply }) => reply)),
    call: async (method, params) => {
      const { reply } = await askTogether({ call: { method, params }, asOf: undefined })
      return reply
    },
    sendAsOf: (calls, asOf = pool.highest() ?? 0n) =>
      Promise.all(calls.map((call) => askTogether({ call, asOf }))),
    sendEverywhere: (calls, asOf = pool.highest() ?? 0n, enough = undefined) => {
      const deadline = clock.monotonic() + timeoutMs
      const awake = new Set(pool.awake())
      const ask = async (url: string) => (await executeOn({ url, calls, deadline, asOf })).replies
      const asked = pool
        .states()
        .map(({ url, lastError }) =>
          awake.has(url) ? ask(url) : calls.map((): EndpointReply => resting(lastError)),
        )
      if (enough === undefined) return Promise.all(asked)
      return untilEnough(asked, { enough, late: () => calls.map((): EndpointReply => LATE) })
    },
    broadcast: async (calls) => (calls.length === 0 ? [] : ask(calls)),
    forward: async (calls) =>
      calls.length === 0
        ? []
        : (await ask(calls.map(writableCall), undefined, true)).map(({ reply }) => reply),
    states: () => pool.states(),
    seenHead: () => pool.seenHead(),
  }
}

/** A call, and the height that the endpoint that answers it must have reached. */
interface CallAsOf {
  readonly call: RpcCall
  readonly asOf: bigint | undefined
}

/** The reply of an endpoint for which the others did not wait. */
const LATE: EndpointReply = {
  reply: { kind: 'unknown', detail: 'the endpoint answered later than the others' },
  behind: true,
}

/**
 * The time in ms that slower endpoints have after the first reply, where it is not enough. With less, a quick
 * endpoint decides alone; with more, a slow one delays every transaction.
 */
const SLOWER_DELAY_MS = 1_000

interface Waiting {
  readonly enough: (answered: readonly (readonly EndpointReply[])[]) => boolean
  /** Returns the replies of an endpoint that has not answered. */
  readonly late: () => EndpointReply[]
}

/** Collects replies until they are enough. Time is the machine's, as for the time-out of a request. */
function untilEnough(
  asked: readonly (readonly EndpointReply[] | Promise<readonly EndpointReply[]>)[],
  { enough, late }: Waiting,
): Promise<readonly (readonly EndpointReply[])[]> {
  const answers: (readonly EndpointReply[] | undefined)[] = asked.map((one) =>
    one instanceof Promise ? undefined : one,
  )
  return new Promise((resolve, reject) => {
    let delay: NodeJS.Timeout | undefined
    const finish = () => {
      clearTimeout(delay)
      resolve(answers.map((replies) => replies ?? late()))
    }
    const consider = () => {
      const answered = answers.flatMap((replies) => (replies === undefined ? [] : [replies]))
      if (answered.length === answers.length || enough(answered)) finish()
      else if (answered.some(isAnswered)) delay ??= setTimeout(finish, SLOWER_DELAY_MS)
    }
    for (const [index, one] of asked.entries()) {
      if (!(one instanceof Promise)) continue
      one.then((replies) => {
        answers[index] = replies
        consider()
      }, reject)
    }
    consider()
  })
}

function isAnswered(replies: readonly EndpointReply[]): boolean {
  return replies.some(({ reply }) => reply.kind !== 'unknown')
}

/** The reply of an endpoint that is not queried, with the failure that it is paused for. */
function resting(lastError = 'no reason given'): EndpointReply {
  const detail = `the endpoint is paused after failures and was not used (${lastError})`
  return { reply: { kind: 'unknown', detail }, behind: true }
}

function transportsOf({ urls, guarded = refuse }: RpcClientOptions): (url: string) => Transport {
  const untrusted = new Set(urls.flatMap((one) => (one.untrusted ? [one.url] : [])))
  return (url) => (untrusted.has(url) ? guarded : trustedTransport)
}

const refuse: Transport = () => Promise.reject(new Error("callers' URLs are not used here"))

function writableCall({ method, params }: RpcCall): RpcCall {
  return params === undefined ? { method } : { method, params: writable(params) as RpcParams }
}

/**
 * Returns true if no other endpoint can answer better: the endpoint is not behind, and the node itself
 * answered.
 */
function isSettled(answers: EndpointReply | undefined): boolean {
  return (
    answers !== undefined && !answers.behind && answers.reply.kind !== 'unknown' && answers.elsewhere !== true
  )
}

/**
 * Chooses the better of two answers: one from behind, or a node's error, is better than none. An endpoint
 * that did not answer may have executed the call, regardless of the others (I6).
 */
function better(before: EndpointReply | undefined, now: EndpointReply | undefined): EndpointReply {
  const kept = before ?? { reply: { kind: 'unknown', detail: 'no reply' }, behind: true }
  if (now === undefined) return kept
  const chosen = now.reply.kind === 'unknown' && kept.reply.kind !== 'unknown' ? kept : now
  return kept.unanswered === true ? { ...chosen, unanswered: true } : chosen
}

/** One question goes through the whole pool this often. */
const ROUNDS = 3

/**
 * A call waits for no longer pause, in ms. An endpoint that requires a longer one gets it, and the result is
 * "unknown" immediately: workers repeat the call, and API callers do not wait.
 */
const MAX_PAUSE_MS = 2_000

/** The longest first pause between two rounds, and the limit of its growth, in ms. */
const BACKOFF = { baseMs: 100, maxMs: MAX_PAUSE_MS }

interface EndpointIteratorOptions {
  readonly pool: EndpointPool
  readonly clock: Clock
  readonly random: () => number
}

/**
 * Yields the endpoints for one question in order, until the consumer stops: each once in a round, with a
 * pause between rounds, and no pause that would end after `deadline`. Endpoints in `excluded` are not tried
 * again; the consumer may add to it.
 */
function createEndpointIterator({ pool, clock, random }: EndpointIteratorOptions) {
  return async function* endpointsToTry(
    excluded: ReadonlySet<string>,
    deadline: number,
  ): AsyncGenerator<string, void> {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const tried = new Set<string>()
      while (clock.monotonic() < deadline) {
        const url = pool.choose(new Set([...tried, ...excluded]))
        if (url === undefined) break
        tried.add(url)
        yield url
      }
      // An endpoint that requires a pause gets it in full; the jitter is added. With no endpoint left there
      // is no further round.
      const wait = pool.waitMs(excluded)
      if (wait === undefined || round === ROUNDS) return
      const pause = wait + backoffMs(round, { ...BACKOFF, random })
      if (wait > MAX_PAUSE_MS || clock.monotonic() + pause >= deadline) return
      await clock.sleep(pause)
    }
  }
}
