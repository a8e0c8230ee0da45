import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { fittingLimit } from '../../src/http/connections/connections.ts'

test.each([
  [4096, 1_048_576, 4096],
  [4096, 1024, 768],
  [4096, 512, 256],
  [100, 1024, 100],
  [4096, 100, 1],
  [4096, Number.POSITIVE_INFINITY, 4096],
])('%d connections of %d open files: %d', (wanted, openFiles, limit) => {
  expect(fittingLimit(wanted, { openFiles })).toBe(limit)
})

test('the limit of the process counts', () => {
  const module = fileURLToPath(new URL('../../src/http/connections/connections.ts', import.meta.url))
  const program = `
    const { connectionLimit } = await import(${JSON.stringify(module)})
    process.stdout.write(String(connectionLimit(4096, { warn: () => process.stdout.write('warned ') })))`
  // Node raises the soft limit to the hard one, so the shell lowers both.
  const command = 'ulimit -n 800 && exec "$0" --input-type=module --eval "$1"'
  expect(execFileSync('/bin/sh', ['-c', command, process.execPath, program], { encoding: 'utf8' })).toBe(
    'warned 544',
  )
})
