/** Checks the form of openapi.yaml: its length, that of its descriptions, and its aliases. Prints each violation; exit code 1 when there is one. */
import { readFileSync } from 'node:fs'
import { findContractViolations } from './contract/violations.ts'

const file = process.argv[2] ?? new URL('../openapi.yaml', import.meta.url)
const violations = findContractViolations(readFileSync(file, 'utf8'))
for (const violation of violations) console.error(violation)
if (violations.length > 0) process.exitCode = 1
