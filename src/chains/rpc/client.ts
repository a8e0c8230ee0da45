import type { Logger } from 'pino'
import type { Clock } from '../../clock.ts'
import { createEndpointPool, type EndpointPool } from '../../networks/endpoints.ts'
import { maskUrl } from '../../networks/mask-url.ts'
import type { RpcUrl } from '../../networks/network.ts'
import { createExchange, type Exchanged } from './exchange.ts'
import { createGatherer } from './gather.ts'
import type { PlacedReply, PooledClient, RpcCall, RpcReply } from './rpc.ts'
import { isEndpointTrouble, isRateLimit } from './trouble.ts'
import { createVisits } from './visits.ts'

interface RpcClientOptions {
  readonly urls: readonly RpcUrl[]
  /** The longest that one HTTP request may take, in ms. */
  readonly timeoutMs: number
  readonly clock: Clock
  /** From 0 up to but not including 1. Default `Math.random`. */
  readonly random?: () => number
  readonly log: Logger
  readonly height: HeightQuestion
}

/** How a node is asked for the height that it has reached. */
export interface HeightQuestion {
  readonly call: RpcCall
  /** Undefined for what is no height. */
  readonly read: (result: unknown) => bigint | undefined
  /**
   * Whether it needs an HTTP request of its own before the others. A node that answers the calls of a batch side by side
   * could tell a height that is newer than its other answers, and its "none" would not hold for that height.
   */
  readonly alone?: true
}

/** All attempts of a question together take at most so many time-outs: one endpoint may use up one, and another still has its own. */
const PATIENCE = 2

/** JSON-RPC over HTTP with kept connections, batches, time-outs, and other endpoints when one does not answer. */
export function createRpcClient(options: RpcClientOptions): PooledClient {
  const { urls, clock, random = Math.random } = options
  const pool = createEndpointPool({ urls, now: () => clock.now(), random })
  const asker = createAsker(options, pool)
  const visits = createVisits({ pool, clock, random })

  async function ask(calls: readonly RpcCall[], asOf?: bigint): Promise<PlacedReply[]> {
    const detail =
      pool.states().length === 0 ? 'no RPC url is configured' : 'every endpoint asked for a pause'
    const placed = calls.map((): PlacedReply => ({ reply: { kind: 'unknown', detail }, behind: true }))
    const deadline = clock.now() + PATIENCE * options.timeoutMs
    const given = new Set<string>()
    for await (const url of visits(given, deadline)) {
      const open = [...placed.keys()].filter((index) => !isSettled(placed[index]))
      const answer = await asker({ url, calls: open.flatMap((index) => calls[index] ?? []), deadline, asOf })
      for (const [place, index] of open.entries())
        placed[index] = better(placed[index], answer.replies[place])
      if (placed.every(isSettled)) break
      if (answer.isFinal) given.add(url)
    }
    return placed
  }

  const gathered = createGatherer<bigint | undefined, RpcCall, PlacedReply>(ask)

  return {
    send: async (calls) => (calls.length === 0 ? [] : (await ask(calls)).map(({ reply }) => reply)),
    call: async (method, params) => {
      const [placed] = await gathered([{ method, params }], undefined)
      return placed?.reply ?? { kind: 'unknown', detail: 'no reply' }
    },
    sendAsOf: async (calls, asOf = pool.highest() ?? 0n) => (calls.length === 0 ? [] : gathered(calls, asOf)),
    sendEverywhere: (calls, asOf = pool.highest() ?? 0n) => {
      const deadline = clock.now() + options.timeoutMs
      const answers = pool.awake().map((url) => asker({ url, calls, deadline, asOf }))
      return Promise.all(answers.map(async (answer) => (await answer).replies))
    },
    states: () => pool.states(),
  }
}

/** Nothing better is to be had elsewhere: the endpoint is far enough, and it was the node that answered. */
function isSettled(placed: PlacedReply | undefined): boolean {
  return (
    placed !== undefined &&
    !placed.behind &&
    placed.reply.kind !== 'unknown' &&
    !isEndpointTrouble(placed.reply)
  )
}

/** An answer from behind, or a node's complaint, is better than none. */
function better(before: PlacedReply | undefined, now: PlacedReply | undefined): PlacedReply {
  const kept = before ?? { reply: { kind: 'unknown', detail: 'no reply' }, behind: true }
  if (now === undefined) return kept
  return now.reply.kind === 'unknown' && kept.reply.kind !== 'unknown' ? kept : now
}

interface Turn {
  readonly url: string
  readonly calls: readonly RpcCall[]
  readonly deadline: number
  /** Height that is demanded; undefined when none is. */
  readonly asOf: bigint | undefined
}

interface TurnTaken {
  readonly replies: readonly PlacedReply[]
  /** Asking the same endpoint once more would not help: it took all of its time, or it is behind. */
  readonly isFinal: boolean
}

/** Asks one endpoint and tells the pool how it went. */
function createAsker(
  { timeoutMs, clock, log, height }: RpcClientOptions,
  pool: EndpointPool,
): (turn: Turn) => Promise<TurnTaken> {
  const exchange = createExchange(() => clock.now())

  function report(url: string, { replies, failure }: Exchanged) {
    const limited = replies.find(isRateLimit)
    const troubled = replies.find(isEndpointTrouble)
    if (failure) pool.failed(url, failure)
    else if (limited) pool.failed(url, { kind: 'limited', detail: limited.message })
    else if (troubled) pool.failed(url, { kind: 'down', detail: troubled.message })
    else return pool.answered(url)
    const detail = failure?.detail ?? limited?.message ?? troubled?.message
    log.warn({ endpoint: maskUrl(url), detail }, 'RPC endpoint did not answer')
  }

  async function put(turn: Turn, calls: readonly RpcCall[], inOrder: boolean): Promise<Exchanged> {
    const { url, deadline } = turn
    const exchanged = await exchange({ url, calls, timeoutMs, deadline, inOrder })
    report(url, exchanged)
    return exchanged
  }

  /** The height, and the replies of a node that had reached it before it looked at the calls. */
  async function putWithHeight(turn: Turn): Promise<Exchanged & { readonly height: bigint | undefined }> {
    const opening = await put(turn, height.alone ? [height.call] : [height.call, ...turn.calls], false)
    const [first, ...together] = opening.replies
    const told = first?.kind === 'result' ? height.read(first.result) : undefined
    if (!height.alone) return { ...opening, replies: together, height: told }
    if (turn.calls.length === 0 || told === undefined) {
      const detail = opening.failure?.detail ?? 'the endpoint did not tell how far it is'
      return { ...opening, replies: turn.calls.map(() => ({ kind: 'unknown', detail })), height: told }
    }
    return { ...(await put(turn, turn.calls, false)), height: told }
  }

  return async (turn) => {
    const { url, calls, asOf } = turn
    if (asOf === undefined) {
      const { replies, failure } = await put(turn, calls, true)
      return { replies: replies.map((reply) => place(reply, false)), isFinal: failure?.kind === 'slow' }
    }
    const { replies, failure, height: told } = await putWithHeight(turn)
    if (told !== undefined) pool.sawHead(url, told)
    const behind = told === undefined || told < asOf
    const isFinal = failure?.kind === 'slow' || (behind && told !== undefined)
    return { replies: replies.map((reply) => place(reply, behind)), isFinal }
  }
}

/** A rate limit says nothing about the call: nobody looked at it. */
function place(reply: RpcReply, behind: boolean): PlacedReply {
  return isRateLimit(reply)
    ? { reply: { kind: 'unknown', detail: reply.message }, behind }
    : { reply, behind }
}
