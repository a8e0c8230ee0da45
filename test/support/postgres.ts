import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './free-port.ts'

const OLDEST_VERSION = 15

/** A PostgreSQL that tests may fill. */
export interface PostgresServer {
  /** Makes an empty database of its own and gives its url. */
  createDatabase(): Promise<string>
  /** Removes every database that was made, and the server if we started it. */
  stop(): Promise<void>
}

/** True when `startPostgres` can work: `TEST_DATABASE_URL` is set, or PostgreSQL 15 or later is installed here. */
export function hasPostgres(): boolean {
  return process.env.TEST_DATABASE_URL !== undefined || findBinaries() !== undefined
}

/** The server of `TEST_DATABASE_URL`, or a throw-away cluster in a temporary folder. */
export async function startPostgres(): Promise<PostgresServer> {
  const serverUrl = process.env.TEST_DATABASE_URL
  if (serverUrl !== undefined) return serverAt(serverUrl, async () => {})
  const binaries = findBinaries()
  if (!binaries) throw new Error('There is no PostgreSQL here.')
  const { url, stop } = await startCluster(binaries)
  return serverAt(url, stop)
}

function serverAt(adminUrl: string, stopServer: () => Promise<void>): PostgresServer {
  const names: string[] = []
  return {
    async createDatabase() {
      const name = `relayer_${crypto.randomUUID().replaceAll('-', '')}`
      await administer(adminUrl, [`create database ${name}`])
      names.push(name)
      const url = new URL(adminUrl)
      url.pathname = `/${name}`
      return url.href
    },
    async stop() {
      await administer(
        adminUrl,
        names.map((name) => `drop database ${name} with (force)`),
      )
      await stopServer()
    },
  }
}

async function administer(url: string, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await query(url, statement)
}

/** Runs a statement on a connection of its own. */
export async function query<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(statement)).rows
  } finally {
    await client.end()
  }
}

/** A PostgreSQL that does not run yet; nothing listens at its url. */
export interface LatePostgres {
  readonly url: string
  start(): Promise<void>
  /**
   * Makes a standby that follows this one, which runs, and starts it. `synchronous`, the default: this one answers a commit only when the
   * standby has it. `port`: where it listens; a free one if absent.
   */
  startStandby(options?: {
    readonly synchronous: boolean
    readonly port?: number | undefined
  }): Promise<LatePostgres>
  /** Makes a primary of a standby. */
  promote(): Promise<void>
  /** Sends nothing more to its standbys, as over a link that is slower than the commits. It lasts until the crash. */
  holdBack(): Promise<void>
  /** Stops all of its processes: connections stay open, new ones are taken, and no one answers. It lasts until the crash. */
  freeze(): Promise<void>
  /** Runs a statement on a connection of its own. */
  query<Row extends object>(statement: string): Promise<{ readonly rows: readonly Row[] }>
  /** The statements, with its reason, in which it found a deadlock. */
  deadlocks(): readonly string[]
  /** Kills all of its processes with SIGKILL. */
  crash(): Promise<void>
  /** Ends it, where it was started, and removes it. */
  stop(): Promise<void>
}

/** True when `createPostgres` can work. */
export function canStartPostgres(): boolean {
  return findBinaries() !== undefined
}

/** Makes a cluster in a temporary folder, to be started by the test. */
export async function createPostgres(): Promise<LatePostgres> {
  const binaries = findBinaries()
  if (!binaries) throw new Error('There is no PostgreSQL here.')
  return createCluster(binaries)
}

async function startCluster(binaries: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const cluster = await createCluster(binaries)
  await cluster.start()
  return cluster
}

async function createCluster(
  binaries: string,
  { primaryUrl, port: wanted }: { readonly primaryUrl?: string; readonly port?: number | undefined } = {},
): Promise<LatePostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'relayer-postgres-'))
  const user = unprivilegedUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const options = { cwd: folder, ...user }
  const data = join(folder, 'data')
  const run = (program: string, args: readonly string[]) =>
    promisify(execFile)(join(binaries, program), args, options)
  if (primaryUrl === undefined)
    await run('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-sync'])
  else await run('pg_basebackup', ['-d', primaryUrl, '-D', data, '-R', '-c', 'fast', '--no-sync'])
  const port = wanted ?? (await freePort())
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    // The machine survives the crashes of the tests, and with it what was written.
    'fsync=off',
    // In the folder, so that nothing of a killed server is left when it is removed.
    'dynamic_shared_memory_type=mmap',
  ]
  let server: ChildProcess | undefined
  let output = ''
  /** Processes of it are stopped, so that it cannot end in good order. */
  let isHeld = false
  const killServer = () => {
    server?.kill('SIGQUIT')
    server?.kill('SIGCONT')
  }
  const end = async (signal: NodeJS.Signals) => {
    process.off('exit', killServer)
    if (server === undefined || hasEnded(server)) return
    const exited = once(server, 'exit')
    if (signal === 'SIGKILL') signalAll(await processesOf(server), signal)
    else server.kill(signal)
    await exited
  }
  const crash = async () => {
    if (server === undefined || hasEnded(server)) return
    const segment = sharedMemoryOf(data)
    await end('SIGKILL')
    if (segment !== undefined) await promisify(execFile)('ipcrm', ['-m', segment])
  }
  return {
    url,
    async start() {
      server = spawn(
        join(binaries, 'postgres'),
        ['-D', data, '-p', String(port), ...settings.flatMap((s) => ['-c', s])],
        { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
      )
      process.once('exit', killServer)
      server.stderr?.on('data', (chunk: Buffer) => {
        output += chunk.toString()
      })
      await ready(server)
    },
    async startStandby({ synchronous, port: standbyPort } = { synchronous: true }) {
      const standby = await createCluster(binaries, { primaryUrl: url, port: standbyPort })
      await standby.start()
      if (synchronous)
        await administer(url, [`alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()'])
      return standby
    },
    async promote() {
      await run('pg_ctl', ['promote', '-D', data])
    },
    async holdBack() {
      isHeld = true
      const senders = await query<{ pid: number }>(url, 'select pid from pg_stat_replication')
      signalAll(
        senders.map(({ pid }) => pid),
        'SIGSTOP',
      )
    },
    async freeze() {
      isHeld = true
      if (server) signalAll(await processesOf(server), 'SIGSTOP')
    },
    query: async <Row extends object>(statement: string) => ({ rows: await query<Row>(url, statement) }),
    deadlocks: () =>
      output
        .split('ERROR:  deadlock detected')
        .slice(1)
        .map((text) => text.split(/ (?:ERROR|LOG): {2}/)[0] ?? ''),
    crash,
    async stop() {
      // Fast shutdown: connections are ended, not waited for.
      if (isHeld) await crash()
      else await end('SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves when the server accepts connections; fails with its output when it ends instead. */
async function ready(server: ChildProcess): Promise<void> {
  let output = ''
  await new Promise<void>((resolve, reject) => {
    server.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      // A standby says "ready to accept read-only connections".
      if (/ready to accept (read-only )?connections/.test(output)) resolve()
    })
    server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${output}`)))
    server.once('error', reject)
  })
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** The server, and then the processes that it started: without it no one starts them again. */
export async function processesOf({ pid = 0 }: { readonly pid?: number | undefined }): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,ppid='])
  const all = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  return [pid, ...all.flatMap(([child = 0, parent]) => (parent === pid ? [child] : []))]
}

/** Sends a signal to processes, some of which may have ended. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended in the meantime.
    }
}

/** The segment by which a server sees that another one has its folder; a killed one cannot remove it (`postmaster.pid`, line 7). */
export function sharedMemoryOf(data: string): string | undefined {
  return /(\d+)\s*$/.exec(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[6] ?? '')?.[1]
}

/** PostgreSQL refuses to run as root. Undefined if we are a third party already. */
export function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string, name: string) =>
    Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }))
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) }
    } catch {
      // This machine has no such user; the next name may exist.
    }
  }
  return undefined
}

/**
 * The folder with the programs of the newest PostgreSQL of this machine; undefined if there is none that the
 * service can use.
 */
export function findBinaries(): string | undefined {
  const packaged = ['/usr/lib/postgresql', '/opt/homebrew/opt'].flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, 'bin')) : [],
  )
  const folders = [...packaged.sort().reverse(), ...(process.env.PATH ?? '').split(delimiter)]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && versionIn(folder) >= OLDEST_VERSION)
}

function versionIn(folder: string): number {
  const text = execFileSync(join(folder, 'initdb'), ['--version'], { encoding: 'utf8' })
  return Number(/ (\d+)/.exec(text)?.[1] ?? 0)
}
