import { expect, test } from 'vitest'
import { settingsToRestartWith } from '../../src/cli/start-settings.ts'

const SEMI_SPACE = '--max-semi-space-size=16'
const OLD_SPACE = '--initial-old-space-size=128'
const NO_INSPECTOR = '--disable-sigusr1'

const SERVICE = {
  platform: 'linux',
  args: ['serve'],
  env: { HOST: '::' },
  execArgv: ['--enable-source-maps'],
  hasChannel: false,
  isConfined: false,
} as const

test('the service starts again with a fixed threshold, fixed sizes of the heap and no inspector, and keeps its other settings', () => {
  expect(settingsToRestartWith(SERVICE)).toEqual({
    env: { HOST: '::', MALLOC_TRIM_THRESHOLD_: '1048576' },
    execArgv: ['--enable-source-maps', SEMI_SPACE, OLD_SPACE, NO_INSPECTOR],
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
  ['--max-semi-space-size=32', OLD_SPACE],
  ['--max_semi_space_size=32', OLD_SPACE],
  ['--min-semi-space-size=32', OLD_SPACE],
  ['--initial-old-space-size=64', SEMI_SPACE],
  ['--max-old-space-size=96', SEMI_SPACE],
  ['--max_old_space_size_percentage=20', SEMI_SPACE],
  ['--max-heap-size=200', SEMI_SPACE],
])('a size of an operator stays, whether an option or in NODE_OPTIONS: %s', (option, added) => {
  expect(settingsToRestartWith({ ...SERVICE, execArgv: [option] })).toMatchObject({
    execArgv: [option, added, NO_INSPECTOR],
  })
  const env = { NODE_OPTIONS: `--trace-warnings ${option}` }
  expect(settingsToRestartWith({ ...SERVICE, env })).toMatchObject({
    execArgv: [...SERVICE.execArgv, added, NO_INSPECTOR],
  })
})

test.each(['--disable-sigusr1', '--no-disable-sigusr1', '--disable_sigusr1'])(
  'the decision of an operator about the inspector stays: %s',
  (option) => {
    expect(settingsToRestartWith({ ...SERVICE, execArgv: [option] })).toMatchObject({
      execArgv: [option, SEMI_SPACE, OLD_SPACE],
    })
  },
)

test('where the system has another allocator, only the inspector is decided about', () => {
  expect(settingsToRestartWith({ ...SERVICE, platform: 'darwin' })).toEqual({
    env: SERVICE.env,
    execArgv: [...SERVICE.execArgv, NO_INSPECTOR],
  })
})

test.each([
  [
    'an operator has decided about everything',
    {
      env: {
        MALLOC_TRIM_THRESHOLD_: '131072',
        NODE_OPTIONS: '--max-semi-space-size=32 --max-old-space-size=200 --no-disable-sigusr1',
      },
    },
  ],
  ['the system cannot replace a program', { platform: 'win32' }],
  ['a command ends soon', { args: ['health'] }],
  ['a parent process talks to this one', { hasChannel: true }],
  ['it may start no program', { isConfined: true }],
] as const)('the program stays when %s', (_, facts) => {
  expect(settingsToRestartWith({ ...SERVICE, ...facts })).toBeUndefined()
})
