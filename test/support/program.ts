import { join } from 'node:path'
import { currentProgram } from '../../scripts/prepare/current-program.mjs'

const ROOT = join(import.meta.dirname, '../..')

let found: string | undefined

/**
 * The program that tests start: the built one where it is current, which starts in half of the time, and the sources otherwise, as
 * `scripts/relayer.mjs` decides. It is looked up once for each process of tests, because that reads all sources, and not before it is needed: a
 * benchmark builds it first.
 */
export function program(): string {
  found ??= currentProgram(ROOT) ?? join(ROOT, 'src/main.ts')
  return found
}

/** The command of `relayer serve`. */
export function serveCommand(args: readonly string[] = []): readonly [string, ...string[]] {
  return [process.execPath, program(), 'serve', ...args]
}
