import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { anvilCommand, relayerCommand } from '../../src/cli/init.ts'
import { ON_ANVIL, startAnvil } from '../support/anvil.ts'
import { API_KEY, startService, type Transaction } from '../support/service.ts'
import { until } from '../support/until.ts'

const run = promisify(execFile)

/** The first shell block after the title. */
async function blockAfter(title: string): Promise<string> {
  const readme = await readFile('README.md', 'utf8')
  const block = /```sh\n([\s\S]*?)```/.exec(readme.slice(readme.indexOf(title)))?.[1]
  if (block === undefined) throw new Error(`README.md has no shell block after "${title}"`)
  return block
}

test('the blocks of the README can be pasted: they send, replace, explain, cancel, follow to the end, and read', async () => {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  onTestFinished(() => anvil.stop())
  const relayers = [{ id: 'local-1', name: 'Local', signer_id: 'dev-0', ...ON_ANVIL }]
  // The block time of the network of the README, so that no block is late while the commands run.
  const network = { average_blocktime_ms: 20_000 }
  const service = await startService({ rpcUrls: [anvil.url], network, relayers })
  onTestFinished(service.stop)
  const block = await blockAfter('## Send, and replace while it waits')
  const env = { PATH: process.env.PATH, RELAYER_URL: service.url, RELAYER_API_KEY: API_KEY }
  // The last command exits with 1, because the transaction did not end as confirmed.
  const pasted = run('bash', ['--norc', '-e', '-c', block], { env }).catch((error) => error)
  const list = async () =>
    (await service.api<Transaction[]>('GET', '/relayers/local-1/transactions')).body.data
  const [{ id } = { id: '' }] = await until(list, ({ length }) => length === 1)
  const read = async () =>
    (await service.api<Transaction>('GET', `/relayers/local-1/transactions/${id}`)).body.data
  await until(read, ({ attempts, status }) => attempts.at(-1)?.kind === 'cancel' || status === 'canceled')
  const blocks = setInterval(() => void anvil.rpc('evm_mine', []), 200)
  const { stdout, stderr } = await pasted.finally(() => clearInterval(blocks))
  expect(stderr).toBe('')
  const { status } = await read()
  expect(status).toBe('canceled')
  expect(stdout).toMatch(/it waits for a block[\s\S]*Canceled by the caller; a no-op used its nonce\./)

  const cwd = await mkdtemp(join(tmpdir(), 'relayer-readme-'))
  onTestFinished(() => rm(cwd, { recursive: true }))
  await mkdir(join(cwd, 'config'))
  await writeFile(join(cwd, 'config/.env'), `API_KEY=${API_KEY}\n`)
  const script = `ID=${id}\n${await blockAfter('**Over HTTP**')}`
  const answer = await run('bash', ['--norc', '-e', '-c', script], { cwd, env })
  expect(JSON.parse(answer.stdout)).toMatchObject({ success: true, data: { id, status } })
}, 120_000)

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
