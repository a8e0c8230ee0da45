import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { writeOncePerTurn } from '../../src/log.ts'

test('the lines of one turn of the event loop are written together and in order', async () => {
  const writes: string[] = []
  const stream = writeOncePerTurn({ write: (text) => void writes.push(text) })
  stream.write('1\n')
  stream.write('2\n')
  expect(writes).toEqual([])
  await new Promise((resolve) => setImmediate(resolve))
  stream.write('3\n')
  await new Promise((resolve) => setImmediate(resolve))
  expect(writes).toEqual(['1\n2\n', '3\n'])
})

test('a process that exits at once has written its last lines', () => {
  const module = JSON.stringify(new URL('../../src/log.ts', import.meta.url).href)
  const program = `const { createLogger } = await import(${module}); createLogger({ level: 'info' }).info('last words'); process.exit(3)`
  const run = () =>
    execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
  expect(run).toThrow(
    expect.objectContaining({ status: 3, stdout: expect.stringContaining('"msg":"last words"') }),
  )
})
