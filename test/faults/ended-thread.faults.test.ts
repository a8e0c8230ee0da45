import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { openPGlite } from '../../src/database/engines/embedded/pglite.ts'
import { createDataDir } from '../support/data-dir.ts'

test('when the thread of the embedded database ends, its callers see an error and the process ends; the next one opens it', async () => {
  const dataDir = await createDataDir()
  const child = fork(new URL('./ended-thread-child.ts', import.meta.url), [dataDir], {
    silent: true,
    execArgv: [],
  })
  let output = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const exited = once(child, 'exit')
  const [seen] = await once(child, 'message')
  const message = 'the thread of the embedded database ended with code 1'
  expect(seen).toEqual({ message })
  expect((await exited)[0]).toBe(1)
  expect(output).toContain(message)
  await (await openPGlite({ dataDir, durability: 'full' })).close()
})
