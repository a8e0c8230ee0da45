import { expect, test } from 'vitest'
import { environmentToRestartWith } from '../../src/cli/allocator-settings.ts'

const SERVICE = {
  platform: 'linux',
  args: ['serve'],
  env: { HOST: '::' },
  hasChannel: false,
  isConfined: false,
} as const

test('the service starts again with a fixed threshold, and keeps its environment', () => {
  expect(environmentToRestartWith(SERVICE)).toEqual({ HOST: '::', MALLOC_TRIM_THRESHOLD_: '1048576' })
})

test('the program that was started again does not start a third time', () => {
  const env = environmentToRestartWith(SERVICE) ?? {}
  expect(environmentToRestartWith({ ...SERVICE, env })).toBeUndefined()
})

test.each([
  ['an operator has set the threshold', { env: { MALLOC_TRIM_THRESHOLD_: '131072' } }],
  ['the system has another allocator', { platform: 'darwin' }],
  ['a command ends soon', { args: ['health'] }],
  ['a parent process talks to this one', { hasChannel: true }],
  ['it may start no program', { isConfined: true }],
] as const)('the program stays when %s', (_, facts) => {
  expect(environmentToRestartWith({ ...SERVICE, ...facts })).toBeUndefined()
})
