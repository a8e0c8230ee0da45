import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
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
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** A PostgreSQL that does not run yet; nothing listens at its url. */
export interface LatePostgres {
  readonly url: string
  start(): Promise<void>
  /** Makes a standby that follows this one, which runs, and starts it. This one answers a commit only when the standby has it. */
  startStandby(): Promise<LatePostgres>
  /** Makes a primary of a standby. */
  promote(): Promise<void>
  /** Ends it at once, as a crash of the machine does. */
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

async function createCluster(binaries: string, primaryUrl?: string): Promise<LatePostgres> {
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
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, 'fsync=off']
  let server: ChildProcess | undefined
  const killServer = () => void server?.kill('SIGQUIT')
  const end = async (signal: NodeJS.Signals) => {
    process.off('exit', killServer)
    server?.kill(signal)
    if (server?.exitCode === null) await once(server, 'exit')
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
      await ready(server)
    },
    async startStandby() {
      const standby = await createCluster(binaries, url)
      await standby.start()
      await administer(url, [`alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()'])
      return standby
    },
    async promote() {
      await run('pg_ctl', ['promote', '-D', data])
    },
    // Immediate shutdown: nothing is written any more.
    crash: () => end('SIGQUIT'),
    async stop() {
      // Fast shutdown: connections are ended, not waited for.
      await end('SIGINT')
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

/** PostgreSQL refuses to run as root. Undefined if we are a third party already. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
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

function findBinaries(): string | undefined {
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
