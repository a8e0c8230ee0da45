import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { API_KEY, startService } from '../../support/service.ts'

const CALLERS = 1_000

const REQUEST = `GET /api/v1/notifications HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_KEY}\r\nConnection: close\r\n\r\n`

interface Caller {
  readonly socket: Socket
  /** The answer until the connection is closed, or the error of the connection. */
  readonly answer: Promise<string>
}

/** Resolves with an open connection. */
async function open(port: number): Promise<Caller> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return { socket, answer: text(socket).catch((error: Error) => error.message) }
}

test('a thousand callers that connect at the same moment all get an answer', async () => {
  const service = await startService({ rpcUrls: [], relayers: [] })
  const port = Number(new URL(service.url).port)
  const callers = await Promise.all(Array.from({ length: CALLERS }, () => open(port)))
  for (const { socket } of callers) socket.write(REQUEST)
  const answers = await Promise.all(
    callers.map(async ({ answer }) => (await answer).split('\r\n', 1)[0] ?? ''),
  )
  const counts = Object.entries(Object.groupBy(answers, (line) => line)).map(([line, all]) => [
    line,
    all?.length,
  ])
  expect(counts).toEqual([['HTTP/1.1 200 OK', CALLERS]])
  await service.stop()
}, 120_000)
