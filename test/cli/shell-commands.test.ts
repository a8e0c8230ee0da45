import { expect, test } from 'vitest'
import { anvilCommand, relayerCommand } from '../../src/cli/shell-commands.ts'

const CLONE = '/home/me/relayer/src/cli/shell-commands.ts'
const PACKAGE = '/srv/node_modules/multichain-relayer/dist/cli/shell-commands.js'
const IMAGE = '/app/dist/cli/shell-commands.js'

test.each([
  [CLONE, 'npm run relayer -- init', 'npm start', 'npx anvil --block-time 20'],
  [
    PACKAGE,
    'npx multichain-relayer init',
    'npx multichain-relayer serve',
    'npx @foundry-rs/anvil --block-time 20',
  ],
  [IMAGE, 'relayer init', 'relayer serve', 'npx @foundry-rs/anvil --block-time 20'],
])('in %s the user types %s', (file, init, serve, chain) => {
  expect([
    relayerCommand('init', file),
    relayerCommand('serve', file),
    anvilCommand('--block-time 20', file),
  ]).toEqual([init, serve, chain])
})
