import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { anvilNetwork, ON_ANVIL } from './anvil.ts'
import { fillDataDir } from './data-dir.ts'
import type { MemoryGroup } from './memory-group.ts'
import { serveCommand } from './program.ts'
import { API_KEY, DEV_KEYS, plainSigner } from './service.ts'

/** `relayer serve` as a process of its own, so that it can be killed. */
export interface ServiceProcess {
  readonly url: string
  readonly child: ChildProcess
  /** SIGKILL: nothing of the process gets the chance to tidy up. */
  kill(): Promise<void>
  /** SIGTERM, and the exit code. */
  terminate(): Promise<number | null>
}

interface ProcessOptions {
  readonly rpcUrl: string
  /** Configuration and data live here and survive the process. */
  readonly folder: string
  readonly env?: Record<string, string>
  /** Arguments after `serve`. Default: none. */
  readonly args?: readonly string[]
  /** The receiver of the events of `main`. Default: none. */
  readonly notificationUrl?: string
  /** The content of the configuration file. Default: the relayer `main` on the network `anvil`. */
  readonly config?: object
  /** Gets every line of the standard output, from the first one on. */
  readonly onLine?: (line: string) => void
  /** The process joins this group before it starts. */
  readonly memoryGroup?: MemoryGroup
}

/** Joins a group of processes, and then becomes the command. */
const JOIN_AND_RUN = 'echo $$ > "$0" && exec "$@"'

/** Starts the service with one relayer `main` and waits until it reports that it is ready. */
export async function startProcess({
  rpcUrl,
  folder,
  notificationUrl,
  config = configFile(rpcUrl, notificationUrl),
  memoryGroup,
  onLine,
  env = {},
  args: flags = [],
}: ProcessOptions): Promise<ServiceProcess> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'config.json'), JSON.stringify(config))
  const dataDir = join(folder, 'data')
  if (!existsSync(dataDir)) await fillDataDir(dataDir)
  const serve = serveCommand(flags)
  const [program, ...args] =
    memoryGroup === undefined
      ? serve
      : (['/bin/sh', '-c', JOIN_AND_RUN, memoryGroup.procs, ...serve] as const)
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      API_KEY,
      HOST: '127.0.0.1',
      APP_PORT: '0',
      CONFIG_DIR: folder,
      DATA_DIR: dataDir,
      LOG_LEVEL: 'info',
      RELAYER_SHUTDOWN_GRACE_SECONDS: '0',
      ...env,
    },
  })
  if (onLine) createInterface({ input: child.stdout }).on('line', onLine)
  const exited = once(child, 'exit')
  return {
    url: await readyUrl(child),
    child,
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
    terminate: async () => {
      child.kill('SIGTERM')
      const [code] = (await exited) as [number | null]
      return code
    },
  }
}

async function readyUrl(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      if (output.length < 200) output.push(line)
      const entry = line.startsWith('{') ? (JSON.parse(line) as { msg?: string; url?: string }) : {}
      if (entry.msg === 'service ready' && entry.url) resolve(entry.url)
    })
  }
  child.once('exit', (code) => reject(new Error(`the service ended with ${code}:\n${output.join('\n')}`)))
  return promise
}

function configFile(rpcUrl: string, notificationUrl: string | undefined) {
  const told = notificationUrl === undefined ? {} : { notification_id: 'ops' }
  return {
    relayers: [{ id: 'main', name: 'Main', signer_id: 'dev', ...ON_ANVIL, ...told }],
    signers: [plainSigner('dev', DEV_KEYS[0])],
    notifications:
      notificationUrl === undefined ? [] : [{ id: 'ops', type: 'webhook', url: notificationUrl }],
    networks: [anvilNetwork([rpcUrl])],
  }
}
