import { expect, test } from 'vitest'
import { settingsToRestartWith } from '../../src/cli/memory-settings.ts'

const SERVICE = {
  platform: 'linux',
  args: ['serve'],
  env: { HOST: '::' },
  execArgv: ['--enable-source-maps'],
  hasChannel: false,
  isConfined: false,
} as const

test('the service starts again with a fixed threshold and a smaller space for new objects, and keeps its other settings', () => {
  expect(settingsToRestartWith(SERVICE)).toEqual({
    env: { HOST: '::', MALLOC_TRIM_THRESHOLD_: '1048576' },
    execArgv: ['--enable-source-maps', '--max-semi-space-size=16'],
  })
})

test('the program that was started again does not start a third time', () => {
  const settings = settingsToRestartWith(SERVICE)
  expect(settings).toBeDefined()
  expect(settingsToRestartWith({ ...SERVICE, ...settings })).toBeUndefined()
})

test('the threshold of an operator stays', () => {
  const env = { MALLOC_TRIM_THRESHOLD_: '131072' }
  expect(settingsToRestartWith({ ...SERVICE, env })).toMatchObject({ env })
})

test.each([
  ['an option', { execArgv: ['--max-semi-space-size=32'] }],
  ['an option with underscores', { execArgv: ['--max_semi_space_size=32'] }],
  ['the smallest size', { execArgv: ['--min-semi-space-size=32'] }],
])('the space for new objects of an operator stays: %s', (_, { execArgv }) => {
  expect(settingsToRestartWith({ ...SERVICE, execArgv })).toMatchObject({ execArgv })
  const env = { NODE_OPTIONS: `--trace-warnings ${execArgv[0]}` }
  expect(settingsToRestartWith({ ...SERVICE, env })).toMatchObject({ execArgv: SERVICE.execArgv })
})

test.each([
  [
    'an operator has set the threshold and the space for new objects',
    { env: { MALLOC_TRIM_THRESHOLD_: '131072', NODE_OPTIONS: '--max-semi-space-size=32' } },
  ],
  ['the system has another allocator', { platform: 'darwin' }],
  ['a command ends soon', { args: ['health'] }],
  ['a parent process talks to this one', { hasChannel: true }],
  ['it may start no program', { isConfined: true }],
] as const)('the program stays when %s', (_, facts) => {
  expect(settingsToRestartWith({ ...SERVICE, ...facts })).toBeUndefined()
})
