import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { program } from '../support/program.ts'

interface Spawned {
  readonly cwd: string
  readonly args: readonly string[]
  readonly env?: Record<string, string>
  readonly input?: string
}

interface Outcome {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Starts the program as a user would, with nothing of our own environment but the search path. */
export function start({ cwd, args, env = {} }: Spawned): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [program(), ...args], { cwd, env: { PATH: process.env.PATH ?? '', ...env } })
}

/** Runs a command to its end. */
export async function relayer(spawned: Spawned): Promise<Outcome> {
  const child = start(spawned)
  child.stdin.end(spawned.input ?? '')
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, out, err }
}
