import { join } from 'node:path'
import { currentProgram } from '../../scripts/prepare/current-program.mjs'
import { settingsToRestartWith } from '../../src/cli/start-settings.ts'

const ROOT = join(import.meta.dirname, '../..')

/**
 * The program that tests start: the built one where it is current, which starts in half of the time, and the sources otherwise, as
 * `scripts/relayer.mjs` decides. It is looked up once for each process of tests, because that reads all sources.
 */
export const PROGRAM = currentProgram(ROOT) ?? join(ROOT, 'src/main.ts')

/** The command and the environment of `relayer serve`, with the settings with which it need not start twice. */
export function serveCommand(
  env: NodeJS.ProcessEnv,
  args: readonly string[] = [],
): { readonly command: readonly [string, ...string[]]; readonly env: NodeJS.ProcessEnv } {
  const { platform, execPath } = process
  const start = { env, execArgv: [] }
  const given = { ...start, platform, args: ['serve'], hasChannel: false, isConfined: false }
  const settings = settingsToRestartWith(given) ?? start
  return { command: [execPath, ...settings.execArgv, PROGRAM, 'serve', ...args], env: settings.env }
}
