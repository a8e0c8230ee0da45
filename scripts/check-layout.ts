/** Checks folders, small files and the root by `scripts/layout/violations.ts`. Prints each violation; exit code 1 when there is one. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { findLayoutViolations, findRootViolation, LAYOUT } from './layout/violations.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
const violations = [
  ...findRootViolation(tracked.trim().split('\n'), LAYOUT),
  ...findLayoutViolations(process.argv[2] ?? fileURLToPath(new URL('../src', import.meta.url)), LAYOUT),
]
for (const violation of violations) console.error(violation)
if (violations.length > 0) process.exitCode = 1
