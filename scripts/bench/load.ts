import { connect, type Socket } from 'node:net'

/** A load of identical requests over kept-alive connections, each of which sends the next one when it has its answer. */
export interface Load {
  readonly port: number
  /** The bytes of one request. */
  readonly request: string
  readonly connections: number
  readonly ms: number
}

/**
 * How many requests were answered. Speaks just enough HTTP to find the end of an answer: on two cores a complete client would be
 * slower than the servers it is to measure.
 *
 * @throws Error when an answer is not 200
 */
export async function drive({ port, request, connections, ms }: Load): Promise<number> {
  const deadline = performance.now() + ms
  const counts = await Promise.all(
    Array.from({ length: connections }, () => keepAsking(port, request, deadline)),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

function keepAsking(port: number, request: string, deadline: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const socket = connect(port, '127.0.0.1', () => socket.write(request))
  let answered = 0
  socket.setNoDelay(true)
  socket.on('error', reject)
  readAnswers(socket, (head) => {
    if (!head.startsWith('HTTP/1.1 200')) return reject(new Error(head))
    answered += 1
    if (performance.now() < deadline) return socket.write(request)
    resolve(answered)
    return socket.destroy()
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
