import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { serveCommand } from '../support/program.ts'
import { API_KEY, DEV_KEYS, plainSigner } from '../support/service.ts'

interface LogEntry {
  readonly level: string
  readonly msg: string
  readonly url: string
}

/** A process that may still be starting. */
interface Starting {
  readonly child: ChildProcess
  readonly exited: Promise<unknown[]>
  /** Waits for the next log line with a message. */
  logged(message: string): Promise<LogEntry>
}

/** Runs `relayer serve`, without relayers, on a PostgreSQL that may not be there yet. */
export async function serveOn(
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Starting> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-late-'))
  const config = { relayers: [], signers: [plainSigner('dev', DEV_KEYS[0])], notifications: [], networks: [] }
  await writeFile(join(folder, 'config.json'), JSON.stringify(config))
  const [program, ...args] = serveCommand()
  const child = spawn(program, args, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      API_KEY,
      HOST: '127.0.0.1',
      APP_PORT: '0',
      CONFIG_DIR: folder,
      DATABASE_URL: databaseUrl,
      RELAYER_SHUTDOWN_GRACE_SECONDS: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGKILL')
    await exited
    await rm(folder, { recursive: true })
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return { child, exited, logged: (message) => nextEntry(lines, message) }
}

async function nextEntry(lines: AsyncIterator<string>, message: string): Promise<LogEntry> {
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    const entry = JSON.parse(line.value) as LogEntry
    if (entry.msg === message) return entry
  }
  throw new Error(`The service ended without "${message}".`)
}
