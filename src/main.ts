#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// Before anything else is loaded: what one start has compiled, the next one finds. Where nothing can be written it does nothing.
enableCompileCache()
const { run } = await import('./cli/run.ts')

const code = await run(process.argv.slice(2), {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
})
// Not left to the event loop: a connection that somebody forgot must not keep a finished process alive.
process.exit(code)
