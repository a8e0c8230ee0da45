import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { relayer, start } from './spawn.ts'

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'relayer-serve-'))
  await relayer({ cwd, args: ['init'] })
})
afterEach(() => rm(cwd, { recursive: true }))

const ENV = { HOST: '127.0.0.1', APP_PORT: '0', DATA_DIR: 'memory://' }

/** Waits for the log line with this message. */
async function logged(
  child: ChildProcessWithoutNullStreams,
  message: string,
): Promise<Record<string, unknown>> {
  for await (const line of createInterface({ input: child.stdout })) {
    const entry = JSON.parse(line)
    if (entry.msg === message) {
      // Nobody reads on; what comes must not fill the pipe.
      child.stdout.resume()
      return entry
    }
  }
  throw new Error(`The service ended without "${message}".`)
}

describe('serve', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('answers after init, and ends with 0 at %s', async (signal) => {
    const child = start({ cwd, args: ['serve'], env: ENV })
    const { url } = await logged(child, 'ready')
    const health = await fetch(`${url}/api/v1/health`)
    expect(health.status).toBe(200)
    child.kill(signal)
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('ends with 1 and one line when its port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = typeof address === 'object' && address ? String(address.port) : ''
    const { code, err } = await relayer({ cwd, args: ['serve'], env: { ...ENV, APP_PORT: port } })
    expect(code).toBe(1)
    expect(err).toContain('EADDRINUSE')
    expect(err.trimEnd().split('\n')).toHaveLength(1)
    taken.close()
  })
})
