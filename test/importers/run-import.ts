import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Config } from '../../src/config/types.ts'

/** Makes a folder for one test. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-import-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command line in this process. */
export async function runImport(...args: readonly string[]): Promise<Outcome> {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await run(args, { out: (line) => out.push(line), err: (line) => err.push(line) })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

/** Reads the printed configuration as the service does, with every variable that the command named. */
export async function loadPrinted(
  { out, err }: Outcome,
  { folder, env = {} }: { readonly folder: string; readonly env?: Record<string, string> },
): Promise<Config> {
  await writeFile(join(folder, 'config.json'), out)
  return loadConfig({ ...variablesIn(err), API_KEY: 'k'.repeat(32), CONFIG_DIR: folder, ...env })
}

/** A value for each variable of the list that ends the output: it is a URL, and long enough for a key. */
function variablesIn(err: string): Record<string, string> {
  const [, list = ''] = err.split('To set, in the environment')
  const names = [...list.matchAll(/^ {2}- ([A-Z][A-Z0-9_]*): /gm)].map(([, name = '']) => name)
  return Object.fromEntries(
    names.map((name) => [name, `https://${name.toLowerCase().replaceAll('_', '-')}.example/x`]),
  )
}
