import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { writeNew } from '../../src/cli/files.ts'
import { nodeVersionProblem } from '../../src/cli/node-version.ts'
import { explainSystemError } from '../../src/cli/run.ts'
import { routeWarnings } from '../../src/cli/serve.ts'
import { cutPower } from '../support/disk/cut-power.ts'
import { recordDisk } from '../support/disk/recorded-disk.ts'
import { createRandom } from '../support/random.ts'

test('a new key file in new folders survives a power cut', async () => {
  const [folder, target] = ['disk', 'after-the-cut'].map((name) =>
    mkdtempSync(join(tmpdir(), `relayer-${name}-`)),
  )
  if (folder === undefined || target === undefined) throw new Error('there is no folder')
  const record = recordDisk(folder)
  onTestFinished(() => {
    record.stop()
    for (const one of [folder, target]) rmSync(one, { recursive: true, force: true })
  })
  const text = 'k'.repeat(2_000)
  await writeNew(join(folder, 'config', 'keys', 'storage.key'), text)
  for (let seed = 1; seed <= 20; seed += 1) {
    cutPower({ record, at: record.now(), random: createRandom(seed), target })
    expect(readFileSync(join(target, 'config', 'keys', 'storage.key'), 'utf8')).toBe(text)
  }
})

test('an older Node.js is named with what to do', () => {
  expect(nodeVersionProblem('20.20.2')).toMatch(
    /^relayer needs Node\.js 24\.9 or later, and this is 20\.20\.2\. .*npm start/,
  )
  expect(nodeVersionProblem('24.8.0')).toContain('this is 24.8.0')
})

test.each(['24.9.0', '24.21.0', '25.1.0', process.versions.node])('Node.js %s is new enough', (version) => {
  expect(nodeVersionProblem(version)).toBeUndefined()
})

test('package.json demands the version of Node.js that the start demands', async () => {
  const { engines } = JSON.parse(await readFile('package.json', 'utf8'))
  expect(engines.node).toBe('>=24.9')
})

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
    `Another program already listens on port ${port} of 127.0.0.1. End it, or choose another port: APP_PORT (METRICS_PORT for the metrics).`,
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

/** Warnings are told in the next turn of the event loop. */
const warn = async (text: string) => {
  process.emitWarning(text, 'MetadataLookupWarning')
  await new Promise(setImmediate)
}

test('a warning of a library goes where it is routed, and nowhere else', async () => {
  const printed: string[] = []
  const printer = ({ message }: Error) => void printed.push(message)
  process.on('warning', printer)
  onTestFinished(() => void process.off('warning', printer))
  const told: string[] = []
  const end = routeWarnings(({ name, message }) => told.push(`${name}: ${message}`))
  await warn('first')
  end()
  expect({ told, printed }).toEqual({ told: ['MetadataLookupWarning: first'], printed: [] })
  await warn('second')
  expect({ told: told.length, printed }).toEqual({ told: 1, printed: ['second'] })
})

test('warnings that are switched off stay off', async () => {
  const printers = process.listeners('warning')
  process.removeAllListeners('warning')
  onTestFinished(() => {
    for (const printer of printers) process.on('warning', printer)
  })
  const told: string[] = []
  const end = routeWarnings(({ message }) => told.push(message))
  await warn('silent')
  end()
  expect(told).toEqual([])
})
