import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { fittingLimit } from '../../src/http/connections/connections.ts'
import { until } from '../support/until.ts'
import { BEARER, call, startStub } from './stub-server.ts'

const STRANGER = 'GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n'
const ENDLESS = 'POST /api/v1/relayers/main/sign HTTP/1.1\r\nHost: x\r\n'
const KEY_HOLDER = `GET /api/v1/relayers HTTP/1.1\r\nHost: x\r\nAuthorization: ${BEARER}\r\n\r\n`

/** A connection that stays open after its answer. */
interface Held {
  readonly socket: Socket
  /** The head of the answer. */
  readonly head: string
  open(): boolean
}

/** Opens a connection from an address of this machine, sends a request and reads its answer. */
async function hold(port: number, request: string, from = '127.0.0.1'): Promise<Held> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  let open = true
  socket.on('error', () => {})
  socket.on('close', () => {
    open = false
  })
  await once(socket, 'connect')
  let head = ''
  if (request !== '') {
    socket.write(request)
    const [answer] = await once(socket, 'data')
    head = String(answer)
  }
  return { socket, head, open: () => open }
}

/** Opens a connection and begins a request whose body never ends. The interim answer shows that the server serves it. */
async function endless(port: number): Promise<Held> {
  const held = await hold(port, `${ENDLESS}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`)
  expect(held.head).toContain('HTTP/1.1 100 ')
  return held
}

const closed = ({ open }: Held) =>
  until(
    async () => open(),
    (isOpen) => !isOpen,
  )

test('a stranger with idle connections up to the limit keeps no caller out', async () => {
  const { port } = await startStub({ limits: { maxConnections: 4, connectionsPerPeer: 4 } })
  const idle = []
  for (let count = 0; count < 4; count += 1) idle.push(await hold(port, STRANGER))
  for (let count = 0; count < 8; count += 1) {
    expect((await call(port, 'GET', '/api/v1/relayers')).status).toBe(200)
  }
  await closed(idle[0] as Held)
})

test('a stranger that says nothing is closed before a key holder that is idle for longer', async () => {
  const { port } = await startStub({ limits: { maxConnections: 3, connectionsPerPeer: 3 } })
  const holder = await hold(port, KEY_HOLDER)
  const silent = await hold(port, '')
  const talking = await hold(port, STRANGER)
  await hold(port, KEY_HOLDER)
  await closed(silent)
  expect([holder.open(), talking.open()]).toEqual([true, true])
})

test('the request of a key holder is finished, though strangers come and go', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  const listSigners = async () => {
    begin()
    await finished
    return { data: [], pagination: { current_page: 1, per_page: 10, total_items: 0 } }
  }
  const { port } = await startStub({ limits: { maxConnections: 2 }, handlers: { listSigners } })
  const answer = call(port, 'GET', '/api/v1/signers')
  await begun
  for (let count = 0; count < 6; count += 1) await hold(port, STRANGER)
  finish()
  expect((await answer).status).toBe(200)
})

test('strangers that never end their requests keep no caller out, not even a caller that has not sent its request yet', async () => {
  const { port } = await startStub({ limits: { maxConnections: 4, connectionsPerPeer: 4 } })
  const unfinished = [await endless(port), await endless(port), await endless(port), await endless(port)]
  const caller = await hold(port, '')
  const late = await endless(port)
  caller.socket.write(KEY_HOLDER)
  const [answer] = await once(caller.socket, 'data')
  expect(String(answer)).toContain('HTTP/1.1 200 ')
  await Promise.all(unfinished.slice(0, 2).map(closed))
  expect([...unfinished.slice(2), late].every(({ open }) => open())).toBe(true)
})

test('a connection is refused when every other one serves a key holder', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const listSigners = () => {
    begin()
    return new Promise<never>(() => {})
  }
  const { port, lines } = await startStub({ limits: { maxConnections: 1 }, handlers: { listSigners } })
  const busy = connect(port, '127.0.0.1')
  busy.write(KEY_HOLDER.replace('relayers', 'signers'))
  await begun
  await expect(call(port, 'GET', '/api/v1/relayers')).rejects.toThrow(/socket hang up|ECONNRESET/)
  expect(lines).toContainEqual(
    expect.objectContaining({
      msg: 'connection closed: the limit is reached',
      setting: 'MAX_CONNECTIONS',
      limit: 1,
    }),
  )
  busy.destroy()
})

test('an address has a limit of its own, which its key holders do not use up', async () => {
  const { port } = await startStub({ limits: { maxConnections: 100, connectionsPerPeer: 2 } })
  const neighbour = await hold(port, STRANGER, '127.0.0.2')
  const holders = [await hold(port, KEY_HOLDER), await hold(port, KEY_HOLDER), await hold(port, KEY_HOLDER)]
  const first = await hold(port, STRANGER)
  const second = await hold(port, STRANGER)
  const third = await hold(port, STRANGER)
  await closed(first)
  expect([neighbour, ...holders, second, third].every(({ open }) => open())).toBe(true)
})

test('a trusted proxy has no limit of its own', async () => {
  const { port } = await startStub({
    limits: { maxConnections: 100, connectionsPerPeer: 1 },
    trustedProxies: ['127.0.0.0/30'],
  })
  const held = [await hold(port, STRANGER), await hold(port, STRANGER), await hold(port, STRANGER)]
  const far = [await hold(port, STRANGER, '127.0.0.9'), await hold(port, STRANGER, '127.0.0.9')]
  await closed(far[0] as Held)
  expect(held.every(({ open }) => open())).toBe(true)
})

test('an idle connection lives long only after a valid key, and the answer says so', async () => {
  const { port } = await startStub({ limits: { unauthenticatedKeepAliveMs: 1_000 } })
  const holder = await hold(port, KEY_HOLDER)
  const wrongKey = await hold(port, KEY_HOLDER.replace(BEARER, `${BEARER}x`))
  const stranger = await hold(port, STRANGER)
  expect(holder.head).toContain('Keep-Alive: timeout=65\r\n')
  expect(stranger.head).toContain('Keep-Alive: timeout=1\r\n')
  await Promise.all([closed(stranger), closed(wrongKey)])
  expect(holder.open()).toBe(true)
})

test.each([
  [4096, 1_048_576, 4096],
  [4096, 1024, 768],
  [4096, 512, 256],
  [100, 1024, 100],
  [4096, 100, 1],
  [4096, Number.POSITIVE_INFINITY, 4096],
])('%d connections of %d open files: %d', (wanted, openFiles, limit) => {
  expect(fittingLimit(wanted, { openFiles })).toBe(limit)
})

test('the limit of the process counts', () => {
  const module = fileURLToPath(new URL('../../src/http/connections/connections.ts', import.meta.url))
  const program = `
    const { connectionLimit } = await import(${JSON.stringify(module)})
    process.stdout.write(String(connectionLimit(4096, { warn: () => process.stdout.write('warned ') })))`
  // Node raises the soft limit to the hard one, so the shell lowers both.
  const command = 'ulimit -n 800 && exec "$0" --input-type=module --eval "$1"'
  expect(execFileSync('/bin/sh', ['-c', command, process.execPath, program], { encoding: 'utf8' })).toBe(
    'warned 544',
  )
})
