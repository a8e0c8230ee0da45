import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An answer in place of that of the service. */
export interface FaultAnswer {
  readonly status: number
  readonly body: string
  readonly headers?: Record<string, string>
}

/**
 * The behaviour of a key service. `slow`: answers after this many ms · `hang`: never answers · `refuse`: closes the connection · an
 * answer: gives this · `rewrite`: the service gets another request · `withhold`: the service answers, and the answer never arrives.
 */
export type Behaviour =
  | { readonly kind: 'pass' | 'hang' | 'refuse' | 'withhold' }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'answer'; readonly answer: FaultAnswer }
  | { readonly kind: 'rewrite'; readonly request: (body: string) => string }

/** Stands before a key service and fails as told. */
export interface FaultProxy {
  readonly url: string
  /** The requests so far. */
  readonly count: () => number
  /** The most requests that were under way at the same time. */
  readonly most: () => number
  /** Sets the behaviour, for all requests or for so many. Afterwards requests pass. */
  behave(behaviour: Behaviour, times?: number): void
  /** Keeps all answers back from now on. Resolves when the service has given the first of them. */
  withhold(): Promise<void>
  /**
   * Lets so many requests pass, and loses the next one: on its way to the service, or its answer on the way back. Later ones pass. With `isKept`
   * the connection stays open. Resolves when it is lost.
   */
  loseAfter(
    passing: number,
    lost: 'request' | 'answer',
    options?: { readonly isKept?: boolean },
  ): Promise<void>
  /** Lets so many requests pass, and gives the next one this answer. Later ones pass. */
  answerAfter(passing: number, answer: FaultAnswer): void
  stop(): Promise<void>
}

/** A request that is to be lost. */
interface Loss {
  passing: number
  readonly lost: 'request' | 'answer' | FaultAnswer
  readonly isKept: boolean
  readonly happened: () => void
}

export const PASS: Behaviour = { kind: 'pass' }

/** Starts a proxy in front of a service. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let [behaviour, left, count, running, most] = [PASS, Number.POSITIVE_INFINITY, 0, 0, 0]
  let withheld = Promise.withResolvers<void>()
  let loss: Loss | undefined

  /** Returns the loss if it is that of this request. */
  function takeLoss(): Loss | undefined {
    const found = loss
    if (found === undefined || found.passing > 0) {
      if (found !== undefined) found.passing -= 1
      return undefined
    }
    loss = undefined
    return found
  }

  function next(): Behaviour {
    if (left <= 0) return PASS
    left -= 1
    return behaviour
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await request.toArray()).join('')
    count += 1
    running += 1
    most = Math.max(most, running)
    response.once('close', () => {
      running -= 1
    })
    const lost = takeLoss()
    if (lost !== undefined) {
      if (typeof lost.lost === 'object') return send(response, lost.lost)
      if (lost.lost === 'answer') await forward(target, request, body)
      if (!lost.isKept) request.socket.destroy()
      return lost.happened()
    }
    const now = next()
    if (now.kind === 'hang') return
    if (now.kind === 'refuse') return void request.socket.destroy()
    if (now.kind === 'slow') await new Promise((resolve) => setTimeout(resolve, now.ms))
    if (now.kind === 'answer') return send(response, now.answer)
    const forwarded = now.kind === 'rewrite' ? now.request(body) : body
    const answer = await forward(target, request, forwarded)
    if (now.kind === 'withhold') return withheld.resolve()
    return send(response, answer)
  }

  const behave: FaultProxy['behave'] = (wanted, times = Number.POSITIVE_INFINITY) => {
    loss = undefined
    behaviour = wanted
    left = times
    most = 0
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    most: () => most,
    behave,
    withhold: () => {
      withheld = Promise.withResolvers()
      behave({ kind: 'withhold' })
      return withheld.promise
    },
    loseAfter: (passing, lost, { isKept = false } = {}) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      loss = { passing, lost, isKept, happened: resolve }
      return promise
    },
    answerAfter: (passing, answer) => {
      loss = { passing, lost: answer, isKept: true, happened: () => {} }
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function send(response: ServerResponse, { status, body, headers }: FaultAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

async function forward(
  target: string,
  { method = 'POST', url = '/', headers }: IncomingMessage,
  body: string,
): Promise<FaultAnswer> {
  const { host: _host, connection: _connection, 'content-length': _length, ...kept } = headers
  const answer = await fetch(`${target}${url}`, {
    method,
    headers: kept as Record<string, string>,
    ...(method === 'GET' ? {} : { body }),
  })
  const challenge = answer.headers.get('www-authenticate')
  return {
    status: answer.status,
    body: await answer.text(),
    headers: {
      'content-type': answer.headers.get('content-type') ?? 'application/json',
      ...(challenge && { 'www-authenticate': challenge }),
    },
  }
}
