import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'

/** The file whose lock is that of the folder. It stays empty. */
const LOCK_FILE = 'relayer.lock'

/** Says who has the lock, for people. Nothing is decided by it: process ids differ between containers. */
const HOLDER_FILE = 'relayer.lock.json'

/** Time in ms between two attempts to take the lock. */
const ATTEMPT_MS = 50

/** Time in ms between two looks whether the locked file is still the one in the folder. */
const LOOK_MS = 1_000

/** SQLITE_BUSY (SQLite, Result and Error Codes): another process has the lock. */
const BUSY = 5

/** Another process uses the folder. Two processes would damage the embedded database. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError'

  constructor(directory: string, holder: string) {
    super(
      `The data folder ${directory} is in use by ${holder}. Stop that process, ` +
        'choose another DATA_DIR, or set DATABASE_URL to share one PostgreSQL.',
    )
  }
}

/** The locked file was removed or replaced, so another process may have locked its successor. */
class DirectoryLockLostError extends Error {
  override readonly name = 'DirectoryLockLostError'

  constructor(directory: string) {
    super(
      `The lock file of the data folder ${directory} was removed or replaced while this process used the folder; the process exits, because another one may be using it.`,
    )
  }
}

interface LockOptions {
  /**
   * Another process gets this time to end, in ms: a killed one exists until it has freed its memory, and is
   * often restarted before that. Default 0.
   */
  readonly waitMs?: number
  /** Called once when the lock no longer protects the folder: nothing may be written after that. */
  readonly onLost?: (error: DirectoryLockLostError) => void
}

/**
 * Locks the folder for this process and returns the function that unlocks it. The kernel keeps the lock, as
 * one of SQLite on a file of the folder (`fcntl`): it holds for processes of other containers on the same
 * machine, regardless of process ids, and ends with the process, however it ends. On a network file system it
 * works only if that supports locks.
 * @throws DirectoryInUseError
 */
export async function lockDirectory(
  directory: string,
  { waitMs = 0, onLost }: LockOptions = {},
): Promise<() => Promise<void>> {
  const end = performance.now() + waitMs
  for (;;) {
    const lock = take(join(directory, LOCK_FILE))
    if (lock !== undefined) return hold(directory, { lock, onLost })
    if (performance.now() >= end) throw new DirectoryInUseError(directory, await describeHolder(directory))
    await pause(ATTEMPT_MS)
  }
}

/** Returns undefined if another process has the lock. */
function take(path: string): DatabaseSync | undefined {
  const lock = new (loadSqlite().DatabaseSync)(path, { timeout: 0 })
  try {
    lock.exec('begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    if ((error as { errcode?: unknown }).errcode === BUSY) return undefined
    throw error
  }
}

/** Loads the library without its warning that it may change: of it, only the lock is used. */
function loadSqlite(): typeof import('node:sqlite') {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}

interface OwnLock {
  readonly lock: DatabaseSync
  readonly onLost: LockOptions['onLost']
}

async function hold(directory: string, { lock, onLost }: OwnLock): Promise<() => Promise<void>> {
  const path = join(directory, LOCK_FILE)
  const note = join(directory, HOLDER_FILE)
  const { ino } = await stat(path)
  await writeFile(note, JSON.stringify({ pid: process.pid, host: hostname() }), { mode: 0o600 })
  const timer = setInterval(async () => {
    const isSame = await stat(path).then(
      (now) => now.ino === ino,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
    )
    if (isSame) return
    clearInterval(timer)
    onLost?.(new DirectoryLockLostError(directory))
  }, LOOK_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await rm(note, { force: true })
    lock.close()
  }
}

async function describeHolder(directory: string): Promise<string> {
  try {
    const { pid, host } = JSON.parse(await readFile(join(directory, HOLDER_FILE), 'utf8')) as Record<
      string,
      unknown
    >
    return `process ${pid} on host ${host}`
  } catch {
    return 'another process' // It has just taken the lock, or the disk is full.
  }
}
