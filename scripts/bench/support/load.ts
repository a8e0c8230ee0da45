import { connect, type Socket } from 'node:net'

/** A load of identical requests over kept-alive connections, each of which sends the next one when it has its answer. */
export interface Load {
  readonly port: number
  /** The bytes of one request. */
  readonly request: string
  readonly connections: number
  /** Asked before each request; false ends the connection. */
  readonly more: () => boolean
  /** Called with the time in ms from the first byte of a request to the last one of its answer. */
  readonly onAnswer?: (ms: number) => void
  /** The HTTP status of every answer. Default: 200. */
  readonly status?: number
  /** Time in ms between an answer and the next request of the connection. Default: none. */
  readonly pauseMs?: number
}

/** Load for a time in ms. */
export function during(ms: number): () => boolean {
  const deadline = performance.now() + ms
  return () => performance.now() < deadline
}

/** Load of this many requests in all. */
export function times(count: number): () => boolean {
  let left = count
  return () => {
    left -= 1
    return left >= 0
  }
}

/** One HTTP/1.1 request as it goes over the wire, with a JSON body when there is one. */
export function requestBytes(
  method: string,
  path: string,
  { key, body }: { key: string; body?: object },
): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const content =
    body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${text.length}`]
  const head = [`${method} ${path} HTTP/1.1`, 'Host: bench', `Authorization: Bearer ${key}`, ...content]
  return `${head.join('\r\n')}\r\n\r\n${text}`
}

/**
 * How many requests were answered. Speaks just enough HTTP to find the end of an answer: on two cores a complete client would be
 * slower than the servers it is to measure.
 *
 * @throws Error if an answer has another status
 */
export async function drive(load: Load): Promise<number> {
  const counts = await Promise.all(Array.from({ length: load.connections }, () => keepAsking(load)))
  return counts.reduce((sum, count) => sum + count, 0)
}

function keepAsking({ port, request, more, onAnswer, status = 200, pauseMs }: Load): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const socket = connect(port, '127.0.0.1')
  let answered = 0
  let askedAt = 0
  const next = () => {
    askedAt = performance.now()
    if (more()) return socket.write(request)
    resolve(answered)
    return socket.destroy()
  }
  socket.setNoDelay(true)
  socket.on('connect', next)
  socket.on('error', reject)
  socket.on('close', () => reject(new Error('the server closed a connection')))
  readAnswers(socket, (head) => {
    if (!head.startsWith(`HTTP/1.1 ${status}`)) return reject(new Error(head))
    answered += 1
    onAnswer?.(performance.now() - askedAt)
    return pauseMs === undefined ? next() : setTimeout(next, pauseMs)
  })
  return promise
}

/** Calls `done` with the head of each answer as soon as its body is here. */
function readAnswers(socket: Socket, done: (head: string) => void): void {
  let received = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const end = received.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = received.toString('latin1', 0, end)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (received.length < end + 4 + length) return
    received = received.subarray(end + 4 + length)
    done(head)
  })
}
