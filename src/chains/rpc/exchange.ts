import type { Failure } from '../../networks/endpoint-health.ts'
import type { RpcObserver } from './observer.ts'
import { type Posted, post } from './post.ts'
import type { RpcCall, RpcReply } from './rpc.ts'
import type { Transport } from './transport.ts'

/** What one endpoint answered to many calls. A `failure` may come with replies: it took some and then no more. */
export interface Exchanged {
  /** In the order of the calls; `unknown` where it did not answer. */
  readonly replies: readonly RpcReply[]
  readonly failure?: Failure
}

/**
 * The sizes of batches that are tried, in calls. Public endpoints refuse more than a hundred; some take ten, some none
 * at all.
 */
const BATCH_SIZES = [100, 10, 1] as const

/** Requests under way at once where an endpoint takes only small batches and the order does not matter. */
const SIDE_BY_SIDE = 8

export interface Question {
  readonly url: string
  readonly calls: readonly RpcCall[]
  /** The longest that one HTTP request may take, in ms. */
  readonly timeoutMs: number
  /** When all of them have to be over, in ms since the epoch. */
  readonly deadline: number
  /** One HTTP request after the other: transactions of an account have to arrive in the order of their nonces. */
  readonly inOrder: boolean
  /** Numbers in replies are kept as they are spelled. */
  readonly verbatim: boolean
}

interface ExchangeOptions {
  readonly now: () => number
  /** How a url is asked. */
  readonly transportOf: (url: string) => Transport
  readonly observer?: RpcObserver | undefined
}

/**
 * Asks one endpoint, in batches as large as it takes; what it takes is found out once and remembered. The first batch
 * goes alone: its answer tells whether the size is right, and a height that is asked for first is not newer than the rest.
 */
export function createExchange({
  now,
  transportOf,
  observer,
}: ExchangeOptions): (question: Question) => Promise<Exchanged> {
  const sizes = new Map<string, number>()

  async function ask(
    { url, timeoutMs, deadline, verbatim }: Question,
    calls: readonly RpcCall[],
  ): Promise<Posted> {
    const start = performance.now()
    const posted = await post({
      url,
      calls,
      timeoutMs: Math.max(1, Math.min(timeoutMs, deadline - now())),
      now,
      verbatim,
      transport: transportOf(url),
    })
    observer?.asked({
      methods: calls.map(({ method }) => method),
      seconds: (performance.now() - start) / 1000,
      failure: posted.kind === 'failed' ? posted.failure.kind : refusal(posted),
    })
    return posted
  }

  async function exchange(question: Question): Promise<Exchanged> {
    const { url, calls, inOrder } = question
    const size = sizes.get(url) ?? BATCH_SIZES[0]
    const asked = pieces(calls, size)
    const [first = []] = asked
    const opening = await ask(question, first)
    if (opening.kind === 'batch_refused') {
      sizes.set(url, BATCH_SIZES.find((smaller) => smaller < first.length) ?? 1)
      const answer = await exchange(question)
      // Refused one by one as well: it was not the size.
      if (answer.replies.every((reply) => reply.kind === 'unknown')) sizes.set(url, size)
      return answer
    }
    const posted: Posted[] = [opening]
    while (posted.length < asked.length && posted.every(({ kind }) => kind === 'replies')) {
      const next = asked.slice(posted.length, posted.length + (inOrder ? 1 : SIDE_BY_SIDE))
      posted.push(...(await Promise.all(next.map((piece) => ask(question, piece)))))
    }
    return join(posted, asked)
  }

  return exchange
}

function refusal({ kind }: Posted): 'batch_refused' | undefined {
  return kind === 'batch_refused' ? kind : undefined
}

function pieces(calls: readonly RpcCall[], size: number): RpcCall[][] {
  return Array.from({ length: Math.ceil(calls.length / size) }, (_, index) =>
    calls.slice(index * size, (index + 1) * size),
  )
}

function join(posted: readonly Posted[], asked: readonly (readonly RpcCall[])[]): Exchanged {
  const replies = asked.flatMap((piece, index): readonly RpcReply[] => {
    const answer = posted[index]
    if (answer?.kind === 'replies') return answer.replies
    return piece.map(() => ({ kind: 'unknown', detail: detailOf(answer) }))
  })
  const failure = posted.map(failureOf).find((one) => one !== undefined)
  return failure === undefined ? { replies } : { replies, failure }
}

function detailOf(posted: Posted | undefined): string {
  if (posted?.kind === 'failed') return posted.failure.detail
  return posted?.kind === 'batch_refused' ? posted.detail : 'not asked any more'
}

function failureOf(posted: Posted): Failure | undefined {
  if (posted.kind === 'failed') return posted.failure
  return posted.kind === 'batch_refused' ? { kind: 'down', detail: posted.detail } : undefined
}
