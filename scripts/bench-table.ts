/**
 * Writes the tables of the benchmarks in README.md and docs/benchmarks.md from the newest line of `bench/history.jsonl`. With `--check` it writes
 * nothing and fails when they differ.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { readLastRun } from './bench/report/history.ts'
import { HEADLINES, withBenchmarks } from './bench/report/readme-table.ts'

const run = readLastRun()
if (run === undefined)
  throw new Error('No run is recorded in bench/history.jsonl. Run: npm run bench -- --record')
for (const [name, beginnings] of [
  ['README.md', HEADLINES],
  ['docs/benchmarks.md', undefined],
] as const) {
  const page = new URL(`../${name}`, import.meta.url)
  const present = readFileSync(page, 'utf8')
  const wanted = withBenchmarks(present, run, beginnings)
  if (!process.argv.includes('--check')) {
    writeFileSync(page, wanted)
  } else if (present !== wanted) {
    console.error(
      `The benchmarks of ${name} are not those of bench/history.jsonl. Run: node scripts/bench-table.ts`,
    )
    process.exitCode = 1
  }
}
