import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { anvilCommand, relayerCommand } from '../../src/cli/init.ts'

const folder = mkdtempSync(join(tmpdir(), 'installations-'))
afterAll(() => rmSync(folder, { recursive: true }))

const CLONE = join(folder, 'relayer')
const PACKAGE = join(folder, 'node_modules/multichain-relayer')
const IMAGE = join(folder, 'app')
for (const path of [join(CLONE, 'src'), join(PACKAGE, 'dist'), join(IMAGE, 'dist')])
  mkdirSync(path, { recursive: true })

test.each([
  [CLONE, 'npm run relayer -- init', 'npm start', 'npx anvil --block-time 20'],
  [
    PACKAGE,
    'npx multichain-relayer init',
    'npx multichain-relayer serve',
    'npx @foundry-rs/anvil --block-time 20',
  ],
  [IMAGE, 'relayer init', 'relayer serve', 'npx @foundry-rs/anvil --block-time 20'],
])('in %s the user types %s', (root, init, serve, chain) => {
  expect([
    relayerCommand('init', root),
    relayerCommand('serve', root),
    anvilCommand('--block-time 20', root),
  ]).toEqual([init, serve, chain])
})
