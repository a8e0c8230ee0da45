import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Run } from './run.ts'

/** One recorded run a line, the newest last. A line can have the rows of another one, and newer ones of some parts. */
const FILE = fileURLToPath(new URL('../../../bench/history.jsonl', import.meta.url))

export function recordRun(run: Run): void {
  appendFileSync(FILE, `${JSON.stringify(run)}\n`)
}

/** The newest recorded run; undefined before the first one. */
export function readLastRun(): Run | undefined {
  if (!existsSync(FILE)) return undefined
  const line = readFileSync(FILE, 'utf8').trimEnd().split('\n').at(-1)
  return line ? (JSON.parse(line) as Run) : undefined
}
