import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createDataDir } from '../support/data-dir.ts'
import { until } from '../support/until.ts'
import { relayer, start } from './spawn.ts'

const NEW_CONNECTIONS = 100
const KEPT_CONNECTIONS = 50

let cwd: string
let request: string

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'relayer-shutdown-'))
  await relayer({ cwd, args: ['init'] })
  const [, key] = /^API_KEY=(.+)$/m.exec(await readFile(join(cwd, 'config/.env'), 'utf8')) ?? []
  request = `GET /api/v1/notifications HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`
})
afterAll(() => rm(cwd, { recursive: true }))

interface Running {
  readonly child: ChildProcessWithoutNullStreams
  readonly port: number
  readonly url: string
  logged(message: string): Promise<unknown>
}

async function serve(graceSeconds: number): Promise<Running> {
  const dataDir = await createDataDir()
  const env = {
    HOST: '127.0.0.1',
    APP_PORT: '0',
    DATA_DIR: dataDir,
    RELAYER_SHUTDOWN_GRACE_SECONDS: String(graceSeconds),
  }
  const child = start({ cwd, args: ['serve'], env })
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGKILL')
    await rm(dataDir, { recursive: true })
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const logged = async (message: string) => {
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      const entry = JSON.parse(line.value)
      if (entry.msg === message) return entry
    }
    throw new Error(`The service ended without "${message}".`)
  }
  const { url } = await logged('service ready')
  return { child, url, port: Number(new URL(url).port), logged }
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

const openMany = (port: number, count: number) => Promise.all(Array.from({ length: count }, () => open(port)))

/** Sends the request and waits for the bytes to leave this process. */
function send(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.write(request, () => resolve())
  return promise
}

const everything = (socket: Socket) => text(socket).catch((error: Error) => error.message)

test('SIGTERM: every request that was on its way is answered, on new connections and on kept ones', async () => {
  const { child, port } = await serve(0)
  const kept = await openMany(port, KEPT_CONNECTIONS)
  await Promise.all(kept.map(async (socket) => [await send(socket), await once(socket, 'data')]))
  // The kernel accepts connections and bytes for the stopped process, so all of them arrive before the signal does.
  child.kill('SIGSTOP')
  const sockets = [...kept, ...(await openMany(port, NEW_CONNECTIONS))]
  await Promise.all(sockets.map(send))
  child.kill('SIGTERM')
  const answers = sockets.map(everything)
  const exited = once(child, 'exit')
  child.kill('SIGCONT')
  const results = (await Promise.all(answers)).map((answer) => answer.split('\r\n', 1)[0])
  expect(results).toEqual(Array(NEW_CONNECTIONS + KEPT_CONNECTIONS).fill('HTTP/1.1 200 OK'))
  expect(await exited).toEqual([0, null])
}, 60_000)

test('SIGTERM: readiness turns first, and requests are still taken for the grace', async () => {
  const { child, url, logged } = await serve(300)
  child.kill('SIGTERM')
  await logged('service stopping')
  const ready = await until(
    async () => await fetch(`${url}/api/v1/ready`),
    ({ status }) => status === 503,
  )
  expect(await ready.json()).toMatchObject({ ready: false, reason: 'The service is stopping.' })
  expect(ready.headers.get('connection')).toBe('close')
  expect((await fetch(`${url}/api/v1/health`)).status).toBe(200)
}, 60_000)
