#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { holdHeapGrowth } from './cli/heap-growth.ts'

holdHeapGrowth()
// The cache is enabled before anything else is loaded, so that the next start reuses the compiled code. Without a writable folder it does nothing.
enableCompileCache()
const { run } = await import('./cli/run.ts')

const code = await run(process.argv.slice(2), {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
})
// The process exits explicitly, because a connection that is still open must not keep a finished process alive.
process.exit(code)
