import type { Logger } from 'pino'
import type { Clock } from '../../lib/clock.ts'
import { createGatherer } from '../../lib/gather.ts'
import { createEndpointPool } from '../../networks/endpoints.ts'
import type { RpcUrl } from '../../networks/network.ts'
import { createAsker, type HeightQuestion } from './endpoint-executor.ts'
import { createVisits } from './endpoint-order.ts'
import type { NodeErrorRules } from './node-errors.ts'
import type { RpcObserver } from './observer.ts'
import { writable } from './raw-json.ts'
import type { PlacedReply, PooledClient, RpcCall, RpcParams } from './rpc.ts'
import { type Transport, trustedTransport } from './transport.ts'

interface RpcClientOptions {
  readonly urls: readonly RpcUrl[]
  /** Asks the urls that callers of the API chose. Absent: they are not asked. */
  readonly guarded?: Transport | undefined
  /** The longest that one HTTP request may take, in ms. */
  readonly timeoutMs: number
  readonly clock: Clock
  /** From 0 up to but not including 1. Default `Math.random`. */
  readonly random?: () => number
  readonly log: Logger
  readonly height: HeightQuestion
  readonly errors: NodeErrorRules
  /** The most that one HTTP request holds, in bytes; a call that is longer goes alone. */
  readonly maxRequestBytes: number
  /** Absent where nobody counts. */
  readonly observer?: RpcObserver | undefined
}

/** All attempts of a question together take at most so many time-outs: one endpoint may use up one, and another still has its own. */
const PATIENCE = 2

/** JSON-RPC over HTTP with kept connections, batches, time-outs, and other endpoints when one does not answer. */
export function createRpcClient(options: RpcClientOptions): PooledClient {
  const {
    urls,
    timeoutMs,
    clock,
    random = Math.random,
    log,
    height,
    observer,
    errors,
    maxRequestBytes,
  } = options
  const pool = createEndpointPool({ urls, now: () => clock.now(), random })
  const transportOf = transportsOf(options)
  const asker = createAsker({
    pool,
    timeoutMs,
    clock,
    log,
    height,
    transportOf,
    observer,
    errors,
    maxRequestBytes,
  })
  const visits = createVisits({ pool, clock, random })

  async function ask(calls: readonly RpcCall[], asOf?: bigint, forwarded = false): Promise<PlacedReply[]> {
    const detail =
      pool.states().length === 0 ? 'no RPC url is configured' : 'every endpoint asked for a pause'
    const placed = calls.map((): PlacedReply => ({ reply: { kind: 'unknown', detail }, behind: true }))
    const deadline = clock.now() + PATIENCE * timeoutMs
    const given = new Set<string>()
    for await (const url of visits(given, deadline)) {
      const open = [...placed.keys()].filter((index) => !isSettled(placed[index]))
      const openCalls = open.flatMap((index) => calls[index] ?? [])
      const answer = await asker({ url, calls: openCalls, deadline, asOf, forwarded })
      for (const [place, index] of open.entries())
        placed[index] = better(placed[index], answer.replies[place])
      if (placed.every(isSettled)) break
      if (answer.isFinal) given.add(url)
    }
    return placed
  }

  const gathered = createGatherer<bigint | undefined, RpcCall, PlacedReply>((calls, asOf) => ask(calls, asOf))

  return {
    send: async (calls) => (calls.length === 0 ? [] : (await ask(calls)).map(({ reply }) => reply)),
    call: async (method, params) => {
      const [placed] = await gathered([{ method, params }], undefined)
      return placed?.reply ?? { kind: 'unknown', detail: 'no reply' }
    },
    sendAsOf: async (calls, asOf = pool.highest() ?? 0n) => (calls.length === 0 ? [] : gathered(calls, asOf)),
    sendEverywhere: (calls, asOf = pool.highest() ?? 0n) => {
      const deadline = clock.now() + timeoutMs
      const awake = new Set(pool.awake())
      const ask = async (url: string) => (await asker({ url, calls, deadline, asOf })).replies
      return Promise.all(
        pool.states().map(({ url }) => (awake.has(url) ? ask(url) : calls.map((): PlacedReply => RESTING))),
      )
    },
    forward: async (calls) =>
      calls.length === 0
        ? []
        : (await ask(calls.map(writableCall), undefined, true)).map(({ reply }) => reply),
    states: () => pool.states(),
  }
}

const RESTING: PlacedReply = {
  reply: { kind: 'unknown', detail: 'the endpoint rests after failures and was not asked' },
  behind: true,
}

function transportsOf({ urls, guarded = refuse }: RpcClientOptions): (url: string) => Transport {
  const byApi = new Set(urls.flatMap((one) => (one.byApi ? [one.url] : [])))
  return (url) => (byApi.has(url) ? guarded : trustedTransport)
}

const refuse: Transport = () => Promise.reject(new Error('urls of callers are not asked here'))

function writableCall({ method, params }: RpcCall): RpcCall {
  return params === undefined ? { method } : { method, params: writable(params) as RpcParams }
}

/** Nothing better is to be had elsewhere: the endpoint is far enough, and it was the node that answered. */
function isSettled(placed: PlacedReply | undefined): boolean {
  return (
    placed !== undefined && !placed.behind && placed.reply.kind !== 'unknown' && placed.elsewhere !== true
  )
}

/** An answer from behind, or a node's complaint, is better than none. */
function better(before: PlacedReply | undefined, now: PlacedReply | undefined): PlacedReply {
  const kept = before ?? { reply: { kind: 'unknown', detail: 'no reply' }, behind: true }
  if (now === undefined) return kept
  return now.reply.kind === 'unknown' && kept.reply.kind !== 'unknown' ? kept : now
}
