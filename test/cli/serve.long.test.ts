import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDataDir } from '../support/data-dir.ts'
import { relayer, start } from './spawn.ts'

let env: Record<string, string>

let cwd: string
let children: ChildProcessWithoutNullStreams[]

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'relayer-serve-'))
  await relayer({ cwd, args: ['init'] })
})
afterAll(() => rm(cwd, { recursive: true }))
beforeEach(async () => {
  children = []
  env = {
    HOST: '127.0.0.1',
    APP_PORT: '0',
    DATA_DIR: await createDataDir(),
    RELAYER_SHUTDOWN_GRACE_SECONDS: '0',
  }
})
afterEach(async () => {
  // Only those that a failed test left behind.
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL')
  await rm(env.DATA_DIR ?? '', { recursive: true })
})

/** Starts the service; `logged` waits for the log line with a message. */
function serve(change: Record<string, string> = {}) {
  const child = start({ cwd, args: ['serve'], env: { ...env, ...change } })
  children.push(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const logged = async (message: string): Promise<{ url: string }> => {
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      const entry = JSON.parse(line.value)
      if (entry.msg === message) return entry
    }
    throw new Error(`The service ended without "${message}".`)
  }
  return { child, logged }
}

/** A request whose body never comes. */
async function hangingRequest(url: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  // The service may cut it; that is not what is tested here.
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(
    'POST /api/v1/relayers/local-1/sign HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n',
  )
  // The interim answer proves that the request is being served.
  await once(socket, 'data')
  return socket
}

describe('serve', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'answers right after init, and ends with 0 at %s',
    async (signal) => {
      // Empty at the first of them.
      const { child, logged } = serve({ DATA_DIR: 'data' })
      const { url } = await logged('service ready')
      expect((await fetch(`${url}/api/v1/health`)).status).toBe(200)
      const { port } = new URL(url)
      // The address to listen on is no address to connect to.
      const change = { HOST: '0.0.0.0', APP_PORT: port }
      const asked = await relayer({ cwd, args: ['health'], env: { ...env, ...change } })
      expect(asked).toMatchObject({ code: 0, out: `http://127.0.0.1:${port}/api/v1/health answered 200\n` })
      child.kill(signal)
      expect(await once(child, 'exit')).toEqual([0, null])
    },
    60_000,
  )

  test.runIf(process.platform !== 'win32')('opens no inspector at SIGUSR1, and goes on', async () => {
    const { child, logged } = serve({ NODE_OPTIONS: '--inspect-port=0' })
    let complaints = ''
    child.stderr.on('data', (chunk: Buffer) => {
      complaints += chunk.toString()
    })
    const { url } = await logged('service ready')
    child.kill('SIGUSR1')
    expect((await fetch(`${url}/api/v1/health`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await once(child, 'close')).toEqual([0, null])
    expect(complaints).not.toContain('Debugger listening')
  })

  test('ends with 1 immediately at the second signal, whatever is under way', async () => {
    const { child, logged } = serve()
    const { url } = await logged('service ready')
    const socket = await hangingRequest(url)
    child.kill('SIGTERM')
    await logged('service stopping')
    expect(child.exitCode).toBeNull()
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([1, null])
    socket.destroy()
  })

  test('ends within its deadline though a caller never finishes', async () => {
    const { child, logged } = serve({ RELAYER_SHUTDOWN_SECONDS: '1' })
    const { url } = await logged('service ready')
    const socket = await hangingRequest(url)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    socket.destroy()
  })

  test('relayer health exits with 1 when the service does not answer', async () => {
    const { code, err } = await relayer({ cwd, args: ['health'], env: { ...env, APP_PORT: '9' } })
    expect({ code, err }).toEqual({ code: 1, err: 'http://127.0.0.1:9/api/v1/health does not answer\n' })
  })

  test('exits with 1 and prints one line when its port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = typeof address === 'object' && address ? String(address.port) : ''
    const { code, err } = await relayer({ cwd, args: ['serve'], env: { ...env, APP_PORT: port } })
    expect(code).toBe(1)
    expect(err).toContain('Another program already listens on port')
    expect(err.trimEnd().split('\n')).toHaveLength(1)
    taken.close()
  })

  test('says where it is reached, and which relayers sign nothing', async () => {
    const { child, logged } = serve()
    const ready = await logged('service ready')
    expect(ready).toMatchObject({
      url: expect.stringMatching(/^http:/),
      consoleUrl: `${ready.url}/console`,
      referenceUrl: `${ready.url}/docs`,
      relayersNotSigning: expect.any(Array),
    })
    child.kill('SIGTERM')
    await once(child, 'exit')
  })

  test('keeps every other process off its data folder, and tells which one has it', async () => {
    const { child, logged } = serve()
    const { url } = await logged('service ready')
    const { code, err } = await relayer({ cwd, args: ['migrate'], env })
    expect(code).toBe(1)
    expect(err).toContain(`in use by process ${child.pid}`)
    expect(err).toContain('the running one has already done it')
    // What can be asked of the service is.
    const asks = { ...env, APP_PORT: new URL(url).port }
    expect(await relayer({ cwd, args: ['audit', 'verify'], env: asks })).toMatchObject({
      code: 0,
      out: expect.stringContaining('every entry matches'),
    })
    expect(await relayer({ cwd, args: ['tx', 'decide'], env: asks })).toMatchObject({
      code: 0,
      out: 'no transaction waits for a decision\n',
    })
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await relayer({ cwd, args: ['migrate'], env })).toMatchObject({
      code: 0,
      out: 'the tables are up to date\n',
    })
  })
})
