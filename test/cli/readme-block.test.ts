import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startAnvil } from '../support/anvil.ts'
import { ON_ANVIL } from '../support/anvil-config.ts'
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
