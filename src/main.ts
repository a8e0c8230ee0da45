#!/usr/bin/env node
import module from 'node:module'
import { nodeVersionProblem } from './cli/node-version.ts'

// Everything else is loaded after this check, because an older Node.js cannot load it.
const problem = nodeVersionProblem(process.versions.node)
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`)
  process.exit(2)
}
// Without a listener, SIGUSR1 opens the inspector of Node.js, through which every program of the machine can
// read the keys.
process.on('SIGUSR1', () => {})
// The cache is enabled before anything else is loaded, so that the next start reuses the compiled code.
// Without a writable folder it does nothing.
module.enableCompileCache()
const { run } = await import('./cli/run.ts')

const code = await run(process.argv.slice(2), {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
})
// The process exits explicitly, because a connection that is still open must not keep a finished process
// alive.
process.exit(code)
