import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import type { PluginBundle } from './bundle.ts'
import { createLineReader, type PluginListener, type ToPlugin } from './messages.ts'
import type { PluginUser } from './plugin.ts'
import { createReceiver } from './receive.ts'

/** The connection to a process that runs a plugin. */
export interface PluginConnection {
  send(message: ToPlugin): void
  /** Ends the process at once. `ended` is called as for any other end. */
  end(reason: string): void
}

/** Starts a process for a plugin. */
export type ConnectPlugin = (listener: PluginListener) => PluginConnection

/** The code and the limits of a process. */
interface ChildSettings {
  /** The only files that it can read. */
  readonly bundle: Pick<PluginBundle, 'file' | 'wall'>
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>
  readonly memoryMb: number
  /** Absent: the user of this process. */
  readonly user?: PluginUser | undefined
}

/** A plugin may use the network. Versions of Node.js that can refuse it need the permission. */
const MAY_USE_NETWORK = process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []

/** The permission model does not guard SQLite, which makes and opens files. */
const WITHOUT_SQLITE = process.allowedNodeEnvironmentFlags.has('--experimental-sqlite')
  ? ['--no-experimental-sqlite']
  : []

/**
 * The time in ms between two looks at the memory of a process, which buffers can fill outside of the limited
 * heap.
 */
const MEMORY_LOOK_MS = 250

/** MiB that Node.js itself and the code of a plugin need besides the heap. */
const MEMORY_BESIDE_HEAP = 192

/**
 * The most bytes that wait for a process to read them. One that asks for more than it reads would fill the
 * memory of the service.
 */
export const MAX_UNREAD_BYTES = 128 * 1024 * 1024

/** The reason for the end of such a process. */
export const DOES_NOT_READ = 'did not read its messages'

/** Characters of the standard error that explain an end. */
const MAX_ERROR_TEXT = 4_096

/**
 * Starts a process of Node.js behind the wall of `runtime/wall.ts`, and behind Node's permission model: it
 * can read its bundle, and no other file, start no program, no worker and no addon, send no signal, and it
 * has no variable of the service. The fourth file of the process is the pipe for messages.
 */
export function startChild(
  { bundle: { file, wall }, env, memoryMb, user }: ChildSettings,
  listener: PluginListener,
): PluginConnection {
  const flags = [
    '--permission',
    `--allow-fs-read=${file}`,
    `--allow-fs-read=${wall}`,
    ...MAY_USE_NETWORK,
    `--max-old-space-size=${memoryMb}`,
    '--disable-sigusr1',
    '--no-addons',
    '--no-warnings',
    ...WITHOUT_SQLITE,
    `--import=${pathToFileURL(wall)}`,
  ]
  const isRoot = process.getuid?.() === 0
  const asUser = user === undefined || isRoot ? [] : withoutCapabilities(user)
  const [program = '', ...args] = [...asUser, process.execPath, ...flags, file]
  const child = spawn(program, args, {
    env,
    cwd: '/',
    ...(isRoot && user),
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const pipe = child.stdio[3] as Socket
  let reason: string | undefined
  let errors = ''
  let isOver = false
  const end = (why: string) => {
    reason ??= why
    child.kill('SIGKILL')
  }
  const over = (why: string) => {
    if (isOver) return
    isOver = true
    clearInterval(memory)
    pipe.destroy()
    listener.ended(reason ?? why)
  }
  const memory = setInterval(() => {
    if (residentMb(child.pid) > memoryMb + MEMORY_BESIDE_HEAP) end(`used more than memory_mb (${memoryMb})`)
  }, MEMORY_LOOK_MS)
  memory.unref()
  const receive = createReceiver(listener, { end, source: pipe })
  const read = createLineReader(receive.line, receive.tooLong)
  pipe.setEncoding('utf8')
  pipe.on('data', (piece: string) => {
    if (reason !== undefined) return
    receive.bytes(piece.length)
    if (!read(piece)) end('sent a message that is too long')
  })
  // A write to a process that has just ended fails; its end is told by `exit`.
  pipe.on('error', () => undefined)
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (piece: string) => {
    errors = (errors + piece).slice(-MAX_ERROR_TEXT)
  })
  child.once('error', (error) => over(`did not start: ${error.message}`))
  child.once('exit', (code, signal) => setImmediate(() => over(describeEnd(code, signal, errors))))
  return {
    send: (message) => {
      pipe.write(`${JSON.stringify(message)}\n`)
      if (pipe.writableLength > MAX_UNREAD_BYTES) end(DOES_NOT_READ)
    },
    end,
  }
}

/**
 * Returns the command that becomes the user before it becomes the command in its arguments. Only root loses
 * its capabilities by changing the user; a process of another one would keep those of the service.
 */
function withoutCapabilities({ uid, gid }: PluginUser): readonly string[] {
  const ids = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  return ['/usr/bin/setpriv', ...ids, '--inh-caps=-all', '--ambient-caps=-all', '--no-new-privs']
}

/** Returns the resident memory of a process in MiB; 0 where the system does not tell. */
function residentMb(pid: number | undefined): number {
  try {
    const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
    return (Number(pages) * 4_096) / (1024 * 1024)
  } catch {
    return 0
  }
}

function describeEnd(code: number | null, signal: string | null, errors: string): string {
  const cause = /FATAL ERROR: .*|^\w*Error: .*/m.exec(errors)?.[0]
  const end = signal === null ? `exited with ${code}` : `was ended by ${signal}`
  return cause === undefined ? end : `${end}: ${cause}`
}
