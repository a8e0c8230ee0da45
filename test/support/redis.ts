import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

/** A Redis with its data in memory. */
export interface Redis {
  readonly port: number
  /** Runs a command with `redis-cli`, and returns what it prints. */
  call(...command: readonly string[]): Promise<string>
  stop(): Promise<void>
}

/** Returns true if `redis-server` and `redis-cli` can be started. Debian has them in its package `redis-server`. */
export function hasRedis(): boolean {
  try {
    for (const program of ['redis-server', 'redis-cli'])
      execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Starts a Redis that writes nothing to disk, and waits until it answers. */
export async function startRedis(): Promise<Redis> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-redis-'))
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  const child = spawn('redis-server', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(child, 'exit')
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const call = async (...command: readonly string[]) =>
    (await promisify(execFile)('redis-cli', ['-p', String(port), ...command])).stdout.trimEnd()
  await until(
    () => call('PING').catch(() => ''),
    (answer) => answer === 'PONG',
  )
  return {
    port,
    call,
    stop: async () => {
      process.off('exit', kill)
      child.kill()
      await ended
      await rm(folder, { recursive: true })
    },
  }
}
