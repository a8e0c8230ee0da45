import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { mustOpen } from '../support/web-socket.ts'
import { isEnd, startSockets } from './socket-stub.ts'
import { BEARER } from './stub-server.ts'

test('10,000 connects leave nothing behind, and others are served meanwhile', async () => {
  const { port, url, told, open } = await startSockets({
    most: { all: 1_000, perCaller: 50 },
    rateLimit: { perSecond: 1e6, burst: 1e6 },
  })
  const { ws, next } = await mustOpen(url, { headers: { authorization: BEARER } })
  let begun = 0
  let opened = 0
  const one = () =>
    new Promise<void>((resolve) => {
      begun += 1
      const socket: Socket = connect(port, '127.0.0.1', () =>
        socket.write(
          'GET /front/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
        ),
      )
      socket.once('data', (piece) => {
        if (String(piece).includes(' 101 ')) opened += 1
        socket.destroy()
      })
      socket.once('error', () => undefined)
      socket.once('close', () => resolve())
    })
  const worker = async () => {
    while (begun < 10_000) await one()
  }
  await Promise.all(Array.from({ length: 100 }, worker))
  ws.send('still here')
  expect(await next()).toBe('still here')
  await until(
    async () => told.filter(isEnd).length,
    (count) => count === opened,
  )
  await Promise.all(Array.from({ length: 50 }, open))
}, 60_000)
