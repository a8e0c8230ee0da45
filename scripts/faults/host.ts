import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '../../src/log.ts'
import { createAdjustableClock } from '../../test/support/clock.ts'
import { type ServiceOptions, startService } from '../../test/support/service.ts'
import { currentProgram, hashOfSources } from '../prepare/current-program.mjs'
import { bundle } from '../prepare/program.ts'

/** What survives a restart of the service: its configuration, its data, its time, and what it wrote to its log. */
export interface HostOptions {
  readonly service: ServiceOptions
  readonly clockOffsetMs: number
  readonly onLog: (text: string) => void
}

/** One life of the service. */
export interface Host {
  readonly url: string
  /** Moves its clock forward. */
  advance(ms: number): void
  /** Makes its time of day step. */
  step(ms: number): void
  /** Finishes what is under way, then ends. */
  stop(): Promise<void>
  /** SIGKILL. Only a host of its own process has it. */
  kill(): Promise<void>
}

/** What goes over to the child, and what comes back. */
export interface ChildOptions {
  readonly service: ServiceOptions
  readonly clockOffsetMs: number
}
export type ToChild = { readonly advanceMs: number } | { readonly stepMs: number } | { readonly stop: true }
export type FromChild = { readonly url: string }

/** The service inside this process: quick to start again, and it cannot be killed. */
export async function hostInside({ service, clockOffsetMs, onLog }: HostOptions): Promise<Host> {
  const clock = createAdjustableClock(clockOffsetMs)
  const log = createLogger({ level: 'debug' }, { write: onLog })
  const { url, stop } = await startService({ ...service, clock, log })
  return {
    url,
    stop,
    advance: clock.advance,
    step: clock.step,
    kill: () => Promise.reject(new Error('a service inside this process cannot be killed')),
  }
}

const ROOT = join(import.meta.dirname, '../..')
const CHILD = join(import.meta.dirname, 'host-child.ts')

/** What decides the program of the child, besides the built service. */
const SOURCES = [
  'src',
  'openapi.yaml',
  'scripts/prepare',
  'package-lock.json',
  'test/support',
  'scripts/faults/host-child.ts',
]

/**
 * Bundles the child with the service that it has in it, as the program is built: a start takes half of the CPU time, and a run of the
 * crash points has a hundred of them. Where the service itself is not built, the child runs from its source.
 */
async function bundleChild(): Promise<string> {
  if (currentProgram(ROOT) === undefined) return CHILD
  const name = `host-${hashOfSources(ROOT, SOURCES).slice(0, 16)}`
  const folder = join(ROOT, 'node_modules/.cache/relayer-tests', name)
  const program = join(folder, 'host-child.js')
  if (existsSync(program)) return program
  await mkdir(join(folder, '..'), { recursive: true })
  const made = await mkdtemp(`${folder}-new-`)
  await bundle(ROOT, { 'host-child': CHILD }, made)
  // Of several processes that make it at once, one keeps its own.
  await rename(made, folder).catch(() => rm(made, { recursive: true }))
  return program
}

let bundled: Promise<string> | undefined

const COMPILED = join(tmpdir(), 'node-compile-cache')

/** The service in a process of its own. */
export async function hostOutside({ service, clockOffsetMs, onLog }: HostOptions): Promise<Host> {
  const options: ChildOptions = { service, clockOffsetMs }
  bundled ??= bundleChild()
  const child = fork(await bundled, [JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Each life starts from what an earlier one has compiled.
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  })
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => onLog(chunk.toString()))
  const exited = once(child, 'exit')
  const url = await Promise.race([urlOf(child), exited.then(() => undefined)])
  if (url === undefined) throw new Error('the service ended before it was ready')
  return {
    url,
    advance: (advanceMs) => tell(child, { advanceMs }),
    step: (stepMs) => tell(child, { stepMs }),
    stop: async () => {
      tell(child, { stop: true })
      await exited
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

async function urlOf(child: ChildProcess): Promise<string> {
  const [message] = (await once(child, 'message')) as [FromChild]
  return message.url
}

function tell(child: ChildProcess, message: ToChild): void {
  // It may have been killed in this very moment; then there is no one to tell.
  if (child.connected) child.send(message, () => {})
}
