/** Checks that imports in `src` follow the arrows of `scripts/imports/rules.ts`, and that plugins import nothing of it. Prints each violation; exit code 1 when there is one. */
import { fileURLToPath } from 'node:url'
import { RULES } from './imports/rules.ts'
import { findPluginViolations, findViolations } from './imports/violations.ts'

const root = process.argv[2] ?? fileURLToPath(new URL('../src', import.meta.url))
const plugins = fileURLToPath(new URL('../plugins', import.meta.url))
const violations = [...findViolations(root, RULES), ...findPluginViolations(plugins)]
for (const violation of violations) console.error(violation)
if (violations.length > 0) process.exitCode = 1
