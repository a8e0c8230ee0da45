import type { Logger } from 'pino'
import type { Clock } from '../../clock.ts'
import type { EndpointPool } from '../../networks/endpoints.ts'
import { maskUrl } from '../../networks/mask-url.ts'
import { createExchange, type Exchanged } from './exchange.ts'
import type { RpcObserver } from './observer.ts'
import type { PlacedReply, RpcCall, RpcReply } from './rpc.ts'
import type { Transport } from './transport.ts'
import { isEndpointTrouble, isRateLimit } from './trouble.ts'

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

interface AskerOptions {
  readonly pool: EndpointPool
  /** The longest that one HTTP request may take, in ms. */
  readonly timeoutMs: number
  readonly clock: Clock
  readonly log: Logger
  readonly height: HeightQuestion
  /** How a url is asked. */
  readonly transportOf: (url: string) => Transport
  readonly observer?: RpcObserver | undefined
}

/** A question for one endpoint. */
export interface Turn {
  readonly url: string
  readonly calls: readonly RpcCall[]
  /** When all of it has to be over, in ms since the epoch. */
  readonly deadline: number
  /** Height that is demanded; undefined when none is. */
  readonly asOf: bigint | undefined
  /** Numbers in replies are kept as they are spelled. */
  readonly verbatim?: boolean
}

export interface TurnTaken {
  readonly replies: readonly PlacedReply[]
  /** Asking the same endpoint once more would not help: it took all of its time, or it is behind. */
  readonly isFinal: boolean
}

/** Asks one endpoint and tells the pool how it went. */
export function createAsker(options: AskerOptions): (turn: Turn) => Promise<TurnTaken> {
  const { pool, timeoutMs, clock, height, transportOf, observer } = options
  const exchange = createExchange({ now: () => clock.now(), transportOf, observer })

  async function put(
    { url, deadline, verbatim = false }: Turn,
    calls: readonly RpcCall[],
    inOrder: boolean,
  ): Promise<Exchanged> {
    const exchanged = await exchange({ url, calls, timeoutMs, deadline, inOrder, verbatim })
    report(options, url, exchanged)
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

function report({ pool, log }: AskerOptions, url: string, { replies, failure }: Exchanged): void {
  const limited = replies.find(isRateLimit)
  const troubled = replies.find(isEndpointTrouble)
  const trouble =
    failure ??
    (limited && ({ kind: 'limited', detail: limited.message } as const)) ??
    (troubled && ({ kind: 'down', detail: troubled.message } as const))
  if (trouble === undefined) {
    pool.answered(url)
    return
  }
  pool.failed(url, trouble)
  log.warn({ endpoint: maskUrl(url), detail: trouble.detail }, 'RPC endpoint did not answer')
}

/** A rate limit says nothing about the call: nobody looked at it. */
function place(reply: RpcReply, behind: boolean): PlacedReply {
  return isRateLimit(reply)
    ? { reply: { kind: 'unknown', detail: reply.message }, behind }
    : { reply, behind }
}
