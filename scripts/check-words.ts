/**
 * Checks that no name that `src` declares, and no sentence there, in the clients, the guides or the contract,
 * contains a word of `scripts/words/banned-words.ts`, that every file that a comment names exists, and that
 * no title of a test is a fragment of a sentence. Prints each one; exit code 1 if there is one.
 */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { findTitleFragments } from './words/test-titles.ts'
import { findBannedNames, findBannedProse, findMissingFiles } from './words/violations.ts'

/** The files that people read, by patterns. Generated code follows the contract. */
const PROSE = [
  '*.md',
  'openapi.yaml',
  'docs/**/*.md',
  'examples/**/*.{md,ts}',
  'ops/**/*.md',
  'src/**/*.{md,ts}',
  'importers/*.ts',
  'console/src/**/*.{ts,tsx}',
  'clients/typescript/*.md',
  'clients/typescript/src/**/*.ts',
]

const root = join(import.meta.dirname, '..')
const files = globSync(PROSE, { cwd: root, exclude: ['CHANGELOG.md', '**/generated/**'] }).sort()
const code = globSync(
  '{generated,src,importers,scripts,simulators,test,plugins,console/src,examples,clients}/**/*.{ts,tsx}',
  {
    cwd: root,
    exclude: ['**/node_modules/**'],
  },
).sort()
const violations = [
  ...findBannedNames(join(root, 'src')),
  ...findBannedProse(root, files),
  ...findMissingFiles(root, code),
  ...findTitleFragments(root, code),
]
for (const violation of violations) console.error(violation)
if (violations.length > 0) process.exitCode = 1
