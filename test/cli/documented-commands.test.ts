import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { anvilCommand, relayerCommand } from '../../src/cli/init.ts'
import { ON_ANVIL, startAnvil } from '../support/anvil.ts'
import { API_KEY, startService } from '../support/service.ts'

const run = promisify(execFile)

/** The first shell block after the title. */
async function blockAfter(title: string): Promise<string> {
  const readme = await readFile('README.md', 'utf8')
  const block = /```sh\n([\s\S]*?)```/.exec(readme.slice(readme.indexOf(title)))?.[1]
  if (block === undefined) throw new Error(`README.md has no shell block after "${title}"`)
  return block
}

test('the block of the README can be pasted: it sends, replaces twice and cancels', async () => {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  onTestFinished(() => anvil.stop())
  const relayers = [{ id: 'local-1', name: 'Local', signer_id: 'dev-0', ...ON_ANVIL }]
  const service = await startService({ rpcUrls: [anvil.url], relayers })
  onTestFinished(service.stop)
  const cwd = await mkdtemp(join(tmpdir(), 'relayer-readme-'))
  onTestFinished(() => rm(cwd, { recursive: true }))
  await mkdir(join(cwd, 'config'))
  await writeFile(join(cwd, 'config/.env'), `API_KEY=${API_KEY}\n`)
  const block = await blockAfter('## Send, and replace while it waits')
  const env = { PATH: process.env.PATH, RELAYER_URL: service.url }
  const { stdout, stderr } = await run('bash', ['--norc', '-e', '-c', block], { cwd, env })
  expect(stderr).toBe('')
  const answers = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  expect(answers.map(({ success, error }) => ({ success, error }))).toEqual(
    Array(4).fill({ success: true, error: undefined }),
  )
  const record = answers.at(-1)?.data
  // What is changed before anything was signed needs no attempt.
  const last = record.attempts.at(-1)?.kind ?? record.status
  expect(['cancel', 'canceled']).toContain(last)
})

describe('the commands for a shell', () => {
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
})
