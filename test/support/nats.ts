import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

/** A NATS server with JetStream, whose files survive its process. */
export interface NatsServer {
  readonly url: string
  /** SIGKILL. */
  kill(): Promise<void>
  /** Starts it again after `kill`. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Returns true if `nats-server` can be started. Debian has it in its package `nats-server`, and Go as a module. */
export function hasNats(): boolean {
  try {
    execFileSync('nats-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Starts one on a free port. */
export async function startNats(): Promise<NatsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-nats-'))
  const port = await freePort()
  let running: ChildProcess | undefined

  async function start(): Promise<void> {
    running = spawn('nats-server', ['-js', '-sd', folder, '-a', '127.0.0.1', '-p', String(port)], {
      stdio: 'ignore',
    })
    await until(() => listens(port), Boolean)
  }

  async function kill(): Promise<void> {
    if (running === undefined) return
    const exited = once(running, 'exit')
    running.kill('SIGKILL')
    await exited
    running = undefined
  }

  await start()
  return {
    url: `127.0.0.1:${port}`,
    kill,
    start,
    stop: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
