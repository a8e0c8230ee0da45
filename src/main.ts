#!/usr/bin/env node
import module from 'node:module'
import { boundHeapGrowth, holdHeapGrowth } from './cli/heap-growth.ts'
import { nodeVersionProblem } from './cli/node-version.ts'
import { applyStartSettings } from './cli/start-settings.ts'

// Everything else is loaded after this check, because an older Node.js cannot load it.
const problem = nodeVersionProblem(process.versions.node)
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`)
  process.exit(2)
}
applyStartSettings()
boundHeapGrowth()
holdHeapGrowth()
// The cache is enabled before anything else is loaded, so that the next start reuses the compiled code. Without a writable folder it does nothing.
module.enableCompileCache()
const { run } = await import('./cli/run.ts')

const code = await run(process.argv.slice(2), {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
})
// The process exits explicitly, because a connection that is still open must not keep a finished process alive.
process.exit(code)
