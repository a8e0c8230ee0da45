import { execFileSync } from 'node:child_process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createLogger } from '../../src/log.ts'

const LINES: string[] = []
const LOG = createLogger({ level: 'info' }, { write: (line) => void LINES.push(line) })

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

test.each([0, 7, 1_700_000_000_999, 1_700_000_001_000, 1_700_000_001_012, 1_700_000_000_998])(
  'a line of the millisecond %i has its time in ISO 8601',
  (now) => {
    vi.spyOn(Date, 'now').mockReturnValue(now)
    onTestFinished(() => void vi.restoreAllMocks())
    LOG.info('line')
    expect(JSON.parse(LINES.pop() ?? '')).toMatchObject({ time: new Date(now).toISOString() })
  },
)
