import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const CLIENT = new URL('../../clients/typescript/', import.meta.url)
const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** A program of a user of the client. */
export interface Program {
  readonly source: string
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** A running program. */
export interface RunningProgram {
  readonly process: ChildProcess
  /** Gives what it has printed when it has ended. Fails when the program has written errors or has failed. */
  ended(): Promise<string>
  /** Ends it, if it runs, and removes what was made for it. */
  stop(): Promise<void>
}

/** Starts a program in a folder of its own. It imports the sources of the client instead of an installed one. */
export async function startProgram({ source, args = [], env }: Program): Promise<RunningProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-client-'))
  await symlink(PACKAGES, join(folder, 'node_modules'))
  await writeFile(join(folder, 'start.ts'), withSources(source))
  const program = startFile(join(folder, 'start.ts'), { args, env })
  return { ...program, stop: () => program.stop().finally(() => rm(folder, { recursive: true })) }
}

/** Starts the program of a file where it is. */
export function startFile(file: string, { args = [], env }: Omit<Program, 'source'>): RunningProgram {
  const child = spawn(process.execPath, [file, ...args], { env: { ...process.env, ...env } })
  const exited = once(child, 'exit')
  return {
    process: child,
    ended: async () => {
      const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited])
      if (stderr !== '' || code !== 0) throw new Error(`the program ended with ${code}: ${stderr}`)
      return stdout
    },
    stop: async () => {
      if (child.exitCode === null) child.kill()
      await exited
    },
  }
}

function withSources(program: string): string {
  return program.replaceAll(/'multichain-relayer-client(?:\/([\w-]+))?'/g, (_import, entry = 'index') =>
    JSON.stringify(new URL(`src/${entry}.ts`, CLIENT)),
  )
}
