import { link, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** `relayer.lock.1`, `relayer.lock.2` …: the highest number counts. */
const LOCK_FILE = /^relayer\.lock\.([1-9][0-9]{0,14})$/

/** A round is lost only to somebody who won it, so this many means that something else is wrong. */
const MAX_ROUNDS = 100

/** Another process works in the folder. The embedded engine would be damaged by two. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError'

  constructor(directory: string, pid: number) {
    super(
      `The data folder ${directory} is in use by process ${pid}. ` +
        'Stop that process, choose another DATA_DIR, or set DATABASE_URL to share one PostgreSQL.',
    )
  }
}

interface Holder {
  readonly pid: number
  /** Start of the process as the kernel counts it: a pid alone is given again, to us too after a container restart. */
  readonly started: string
}

/**
 * Takes the folder for this process and gives the function that frees it. The lock of a process that is gone is taken
 * over. It does not see processes of another machine or container that share the folder.
 *
 * A taker never removes the lock it judged dead (in between, that name could have become somebody's living lock) but
 * makes the next number, which only one can. The highest number is never removed, so who slept through several of them
 * finds out.
 * @throws DirectoryInUseError
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
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

/** False when somebody else has this number or a higher one. */
async function take(own: string, directory: string, number: number): Promise<boolean> {
  const path = pathOf(directory, number)
  // A hard link appears complete or not at all: nobody reads a half-written lock.
  if (!(await succeeds(link(own, path), 'EEXIST'))) return false
  const numbers = await lockNumbers(directory)
  if (numbers.some((other) => other > number)) {
    await rm(path, { force: true })
    return false
  }
  for (const old of numbers) if (old < number) await rm(pathOf(directory, old), { force: true })
  return true
}

/** Emptied, not removed: the number stays taken. */
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
    // EPERM: it lives and belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return started === '' || started === (await startOf(pid))
}

/** Field 22 of /proc/<pid>/stat, counted after the name, which may contain spaces. Empty where there is no /proc. */
async function startOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

/** Undefined for a lock that was freed, removed by a newer holder, or cut by a full disk. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const { pid, started } = JSON.parse(await readFile(path, 'utf8')) as Partial<Holder>
    return Number.isInteger(pid) && typeof started === 'string' ? { pid: pid as number, started } : undefined
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** False when the promise fails with exactly this code. */
async function succeeds(action: Promise<void>, code: string): Promise<boolean> {
  try {
    await action
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false
    throw error
  }
}
