import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { explainSystemError } from '../../src/cli/run.ts'

const errorOf = (code: string, fields: object = {}) =>
  Object.assign(new Error(`said ${code}`), { code, ...fields })

test.each([
  ['EADDRNOTAVAIL', 'Set HOST'],
  ['ENOTFOUND', 'The PostgreSQL server of DATABASE_URL cannot be reached: said ENOTFOUND.'],
  ['28P01', 'Correct user and password in DATABASE_URL.'],
  ['3D000', 'Create it (createdb <name>)'],
  ['42501', 'the right to create tables'],
  ['53300', 'raise max_connections'],
])('%s names the variable or the next step', (code, sentence) => {
  expect(explainSystemError(errorOf(code))).toContain(sentence)
})

test('a port that is taken names itself and the variable', async () => {
  const first = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => first.once('listening', resolve))
  const { port } = first.address() as { port: number }
  const second = createServer().listen(port, '127.0.0.1')
  const error = await new Promise((resolve) => second.once('error', resolve))
  first.close()
  expect(explainSystemError(error)).toBe(
    `Another program listens on port ${port} of 127.0.0.1. End it, or choose another port: APP_PORT (METRICS_PORT for the metrics).`,
  )
})

test('a port below 1024 needs rights', () => {
  expect(explainSystemError(errorOf('EACCES', { syscall: 'listen', port: 80 }))).toContain('port 80')
  expect(explainSystemError(errorOf('EACCES', { syscall: 'open' }))).toBeUndefined()
})

test('several addresses of one host: the first error counts', () => {
  const error = new AggregateError([errorOf('ECONNREFUSED'), errorOf('ENETUNREACH')])
  expect(explainSystemError(error)).toContain('said ECONNREFUSED')
})

test.each([undefined, null, 'text', new Error('any'), errorOf('EOTHER')])(
  '%s has no explanation',
  (error) => {
    expect(explainSystemError(error)).toBeUndefined()
  },
)
