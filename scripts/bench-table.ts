/**
 * Writes the table of the benchmarks in README.md from the newest line of `bench/history.jsonl`. With `--check` it writes nothing and fails
 * when the two differ.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { readLastRun } from './bench/report/history.ts'
import { withBenchmarks } from './bench/report/readme-table.ts'

const README = new URL('../README.md', import.meta.url)

const run = readLastRun()
if (run === undefined)
  throw new Error('No run is recorded in bench/history.jsonl. Run: npm run bench -- --record')
const present = readFileSync(README, 'utf8')
const wanted = withBenchmarks(present, run)
if (!process.argv.includes('--check')) {
  writeFileSync(README, wanted)
} else if (present !== wanted) {
  console.error(
    'The benchmarks of README.md are not those of bench/history.jsonl. Run: node scripts/bench-table.ts',
  )
  process.exitCode = 1
}
