/** Checks that no name that `src` declares, and no sentence there, contains a word of `scripts/words/banned-words.ts`. Prints each one; exit code 1 when there is one. */
import { fileURLToPath } from 'node:url'
import { findBannedNames, findBannedProse } from './words/violations.ts'

const root = process.argv[2] ?? fileURLToPath(new URL('../src', import.meta.url))
const violations = [...findBannedNames(root), ...findBannedProse(root)]
for (const violation of violations) console.error(violation)
if (violations.length > 0) process.exitCode = 1
