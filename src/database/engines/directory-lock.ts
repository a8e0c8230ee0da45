import { link, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** Lock files are `relayer.lock.1`, `relayer.lock.2` …; the highest number is valid. */
const LOCK_FILE = /^relayer\.lock\.([1-9][0-9]{0,14})$/

/** A process loses a round only if another process wins it, so this many lost rounds mean another fault. */
const MAX_ROUNDS = 100

/** Time in ms between two looks at the process that has the lock. */
const LOOK_MS = 50

/** Another process uses the folder. Two processes would damage the embedded database. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError'
  readonly pid: number

  constructor(directory: string, pid: number) {
    super(
      `The data folder ${directory} is in use by process ${pid}. ` +
        'Stop that process, choose another DATA_DIR, or set DATABASE_URL to share one PostgreSQL.',
    )
    this.pid = pid
  }
}

interface Holder {
  readonly pid: number
  /** The start time of the process in the kernel's count. A pid alone is reused, for example after a container restart. */
  readonly started: string
}

/**
 * Locks the folder for this process and returns the function that unlocks it. The lock of a dead process is replaced. Processes of another
 * machine or container that share the folder are not detected.
 *
 * A process never removes the lock of a dead process, because another process could have taken that name meanwhile. It creates the next
 * number instead, which only one process can do. The highest number is never removed, so a process that was suspended meanwhile notices.
 *
 * With `waitMs`, another process gets this time to end: one that was killed lives on until it has freed its memory, and is often started
 * again before.
 * @throws DirectoryInUseError
 */
export async function lockDirectory(directory: string, waitMs = 0): Promise<() => Promise<void>> {
  const end = performance.now() + waitMs
  for (;;) {
    try {
      return await lockNow(directory)
    } catch (error) {
      const isOther = error instanceof DirectoryInUseError && error.pid !== process.pid
      if (!isOther || performance.now() >= end) throw error
    }
    await pause(LOOK_MS)
  }
}

async function lockNow(directory: string): Promise<() => Promise<void>> {
  const own = join(directory, `relayer.lock-${crypto.randomUUID()}`)
  const text = JSON.stringify({ pid: process.pid, started: await startOf(process.pid) } satisfies Holder)
  await writeFile(own, text, { mode: 0o600 })
  try {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const newest = await newestLock(directory)
      const holder = newest > 0 ? await readHolder(pathOf(directory, newest)) : undefined
      if (holder && (await isAlive(holder))) throw new DirectoryInUseError(directory, holder.pid)
      if (await take(own, directory, newest + 1)) return () => free(pathOf(directory, newest + 1))
    }
    throw new Error(`The data folder ${directory} cannot be locked: other processes keep taking it.`)
  } finally {
    await rm(own, { force: true })
  }
}

/** Creates the lock file with this number. Returns false when another process has this number or a higher one. */
async function take(own: string, directory: string, number: number): Promise<boolean> {
  const path = pathOf(directory, number)
  // A hard link appears complete or not at all, so no process reads a half-written lock.
  if (!(await succeeds(link(own, path), 'EEXIST'))) return false
  const numbers = await lockNumbers(directory)
  if (numbers.some((other) => other > number)) {
    await rm(path, { force: true })
    return false
  }
  for (const old of numbers) if (old < number) await rm(pathOf(directory, old), { force: true })
  return true
}

/** Empties the file instead of removing it, so that the number stays in use. */
async function free(path: string): Promise<void> {
  await succeeds(truncate(path), 'ENOENT')
}

async function newestLock(directory: string): Promise<number> {
  return Math.max(0, ...(await lockNumbers(directory)))
}

async function lockNumbers(directory: string): Promise<number[]> {
  return (await readdir(directory)).flatMap((name) => {
    const number = LOCK_FILE.exec(name)?.[1]
    return number === undefined ? [] : [Number(number)]
  })
}

function pathOf(directory: string, number: number): string {
  return join(directory, `relayer.lock.${number}`)
}

async function isAlive({ pid, started }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process is alive and belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return started === '' || started === (await startOf(pid))
}

/** Reads field 22 of /proc/<pid>/stat, counted after the name, which may contain spaces. Empty on systems without /proc. */
async function startOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

/** Reads a lock file. Undefined for a lock that was freed, removed by a newer holder, or truncated by a full disk. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const { pid, started } = JSON.parse(await readFile(path, 'utf8')) as Partial<Holder>
    return Number.isInteger(pid) && typeof started === 'string' ? { pid: pid as number, started } : undefined
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Returns false when the promise rejects with exactly this code. */
async function succeeds(action: Promise<void>, code: string): Promise<boolean> {
  try {
    await action
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false
    throw error
  }
}
