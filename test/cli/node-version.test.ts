import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { nodeVersionProblem } from '../../src/cli/node-version.ts'

test('an older Node.js is named with what to do', () => {
  expect(nodeVersionProblem('20.20.2')).toMatch(
    /^relayer needs Node\.js 24 or later, and this is 20\.20\.2\. .*npm start/,
  )
})

test.each(['24.0.0', '24.9.0', '25.1.0', process.versions.node])('%s is new enough', (version) => {
  expect(nodeVersionProblem(version)).toBeUndefined()
})

test('package.json demands the same', async () => {
  const { engines } = JSON.parse(await readFile('package.json', 'utf8'))
  expect(engines.node).toBe('>=24')
})
