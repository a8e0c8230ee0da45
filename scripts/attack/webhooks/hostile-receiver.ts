import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** A receiver of webhooks that answers each connection with bytes of its own. */
export interface HostileReceiver {
  readonly name: string
  readonly url: string
  connections(): number
}

/** The reaction to a connection. */
type Manner = (socket: Socket) => void

const OK = 'HTTP/1.1 200 OK\r\n'
const BLOCK = 'x'.repeat(65_536)

/** An answer that has no end by itself ends after this time, in ms: far longer than the service waits. */
const LONGEST_MS = 30_000

const afterRequest =
  (answer: Manner): Manner =>
  (socket) =>
    void socket.once('data', () => answer(socket))

const say = (text: string): Manner => afterRequest((socket) => void socket.write(text))
const sayAndEnd = (text: string): Manner => afterRequest((socket) => void socket.end(text))

/** Says the head, and then the part again and again, as fast as it is read or every this many ms. */
const repeat = (head: string, part: string, everyMs = 1): Manner =>
  afterRequest((socket) => {
    socket.write(head)
    const timer = setInterval(() => {
      if (!socket.writableNeedDrain) socket.write(part)
    }, everyMs)
    const end = setTimeout(() => socket.destroy(), LONGEST_MS)
    socket.on('close', () => {
      clearInterval(timer)
      clearTimeout(end)
    })
  })

/** Returns every manner; `elsewhere` is a url to which redirects lead. */
function mannersOf(elsewhere: string): Readonly<Record<string, Manner>> {
  return {
    'an endless body': repeat(`${OK}Transfer-Encoding: chunked\r\n\r\n`, `10000\r\n${BLOCK}\r\n`),
    'a body of a gigabyte': repeat(`${OK}Content-Length: 1073741824\r\n\r\n`, BLOCK),
    'endless headers': repeat(OK, `X-${'a'.repeat(100)}: ${'b'.repeat(1_000)}\r\n`),
    'one endless header': repeat(`${OK}X-A: `, BLOCK),
    'a head in drips': repeat('H', 'T', 100),
    'a body in drips': repeat(`${OK}Content-Length: 1000000\r\n\r\n`, 'x', 100),
    'a flood of 100': repeat('', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)),
    'a flood of 103': repeat('', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(1_000)),
    'a flood of answers': repeat('', `${OK}Content-Length: 0\r\n\r\n`.repeat(1_000)),
    silence: () => {},
    'a reset at once': (socket) => void socket.resetAndDestroy(),
    'a reset after the request': afterRequest((socket) => void socket.resetAndDestroy()),
    'a reset in the body': afterRequest((socket) => {
      socket.write(`${OK}Content-Length: 100\r\n\r\nx`, () => socket.resetAndDestroy())
    }),
    'an answer before the request': (socket) => void socket.write(`${OK}Content-Length: 2\r\n\r\nno`),
    'a length that is too long': say(`${OK}Content-Length: 100\r\n\r\nx`),
    'a length that is too short': sayAndEnd(`${OK}Content-Length: 1\r\n\r\n${BLOCK}`),
    'a negative length': say(`${OK}Content-Length: -1\r\n\r\n`),
    'two lengths': sayAndEnd(`${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`),
    'a wrong chunk': sayAndEnd(`${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\n`),
    'no HTTP': sayAndEnd(`\u0000\u0001${BLOCK}`),
    'HTTP/9.9': sayAndEnd('HTTP/9.9 200 OK\r\n\r\n'),
    'status 999': sayAndEnd('HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n'),
    'an upgrade': say(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ),
    'an odd Retry-After': sayAndEnd('HTTP/1.1 429 No\r\nRetry-After: -1e99\r\nContent-Length: 0\r\n\r\n'),
    'a redirect': sayAndEnd(`HTTP/1.1 307 Go\r\nLocation: ${elsewhere}\r\nContent-Length: 0\r\n\r\n`),
    'a compressed body': sayAndEnd(`${OK}Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope`),
  }
}

/** Starts a receiver of each manner. */
export async function startHostileReceivers(elsewhere: string): Promise<readonly HostileReceiver[]> {
  return Promise.all(Object.entries(mannersOf(elsewhere)).map(([name, manner]) => start(name, manner)))
}

async function start(name: string, manner: Manner): Promise<HostileReceiver> {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.on('error', () => {})
    // A request that no one reads would hold the sender back.
    socket.resume()
    manner(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    name,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    connections: () => connections,
  }
}
