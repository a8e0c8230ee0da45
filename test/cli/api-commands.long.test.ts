import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { formatRecord, formatTable } from '../../src/cli/api/api-command.ts'
import { run } from '../../src/cli/run.ts'
import { readApiAccess } from '../../src/config/api-access.ts'
import { parseJson } from '../../src/contract/exact-integers.ts'
import type { Schemas } from '../../src/contract/operations.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { API_KEY, RECEIVER, type Transaction } from '../support/service.ts'
import { startUnreliableProxy } from '../support/unreliable-proxy.ts'
import { until } from '../support/until.ts'

describe('the commands of the API', () => {
  let story: Scenario

  beforeAll(async () => {
    story = await startScenario()
    const env = { RELAYER_URL: `${story.service.url}/`, RELAYER_API_KEY: API_KEY }
    // The folder of the tests may be one in which a developer has run `relayer init`.
    Object.assign(process.env, { ...env, CONFIG_DIR: join(tmpdir(), 'no-configuration') })
  }, 60_000)
  afterAll(async () => {
    delete process.env.RELAYER_URL
    delete process.env.RELAYER_API_KEY
    delete process.env.CONFIG_DIR
    await story.stop()
  })

  /** Runs a command line; it ends with the exit code that is expected. */
  async function call(code: number, ...args: string[]): Promise<{ out: string[]; err: string }> {
    const [out, err]: [string[], string[]] = [[], []]
    const exit = await run(args, { out: (line) => out.push(line), err: (line) => err.push(line) })
    expect([exit, ...err]).toEqual([code, ...(code === 0 ? [] : err)])
    return { out, err: err.join('\n') }
  }

  async function json<Data = Transaction>(...args: string[]): Promise<Data> {
    return parseJson((await call(0, ...args, '--json')).out.join('\n')) as Data
  }

  const request = (value: bigint | number) => `{"to":"${RECEIVER}","value":${value},"speed":"fast"}`
  const HUGE = 2n ** 63n + 1n

  describe('relayer tx', () => {
    test('sends, shows, lists, explains, replaces and cancels', async () => {
      const sent = await json('tx', 'send', 'main', request(HUGE))
      expect(sent).toMatchObject({ status: 'pending', value: String(HUGE) })
      await story.reach(sent.id, 'submitted')
      const { out: shown } = await call(0, 'tx', 'show', 'main', sent.id)
      expect(shown).toContainEqual(expect.stringMatching(/^status: +submitted$/))
      const { out: list } = await call(0, 'tx', 'list', 'main', '--status', 'submitted')
      expect(list[0]).toMatch(/^ID +STATUS +ACCEPTED +CONFIRMED +PAYS +TO +FEE +BLOCK/)
      expect(list.slice(1).join('\n')).toMatch(
        new RegExp(`${sent.id} .*Z +9\\.223372036854775809 ETH +${RECEIVER}`),
      )
      const { out: all } = await call(0, 'tx', 'list', '--status', 'submitted', '--per-page', '1')
      expect(all[0]).toMatch(/^RELAYER +ID +STATUS +ACCEPTED +CONFIRMED +PAYS/)
      expect(all.slice(1)).toEqual([expect.stringMatching(`^main +${sent.id} `)])
      expect((await call(2, 'tx', 'list', '--page', '2')).err).toContain('--page needs a relayer id')
      const { out: why } = await call(0, 'tx', 'why', 'main', sent.id)
      expect(why[0]).toMatch(/^submitted: /)
      expect(why.at(-1)).toMatch(/^next at .*: /)
      const replaced = await json('tx', 'replace', 'main', sent.id, request(2))
      expect(replaced).toMatchObject({ id: sent.id, value: '2' })
      await call(0, 'tx', 'cancel', 'main', sent.id)
      await story.settle()
      expect(await json('tx', 'show', 'main', sent.id)).toMatchObject({ status: 'canceled' })
    })

    test('shows in which block a transaction is, its fee, and what it emitted', async () => {
      const sent = await json('tx', 'send', 'main', request(1))
      expect((await call(1, 'tx', 'receipt', 'main', sent.id)).err).toContain('transaction_not_included')
      await story.settle()
      const { receipt } = await json<Schemas['EvmTransaction']>('tx', 'show', 'main', sent.id)
      const { out: shown } = await call(0, 'tx', 'show', 'main', sent.id)
      const fee = `0.${receipt?.fee?.padStart(18, '0').replace(/0+$/, '')} ETH`
      expect(shown).toContainEqual(expect.stringMatching(`^fee: +${fee} \\(21000 gas at [0-9.]+…? gwei\\)$`))
      expect(shown).toContainEqual(expect.stringMatching(`^block: +${receipt?.block_number} at 20.*Z$`))
      const { out: list } = await call(0, 'tx', 'list', 'main', '--per-page', '100')
      expect(list.find((line) => line.startsWith(sent.id))).toContain(`${fee}  ${receipt?.block_number}`)
      expect(await json('tx', 'receipt', 'main', sent.id)).toMatchObject({
        receipt,
        succeeded: true,
        logs: [],
      })
    })

    test('shows the function that a transaction calls, and the token that it moves', async () => {
      const send = async (call: object) =>
        json('tx', 'send', 'main', JSON.stringify({ to: RECEIVER, value: 0, call }))
      const lineOf = async (id: string) =>
        (await call(0, 'tx', 'show', 'main', id)).out.find((line) => line.startsWith('pays:'))
      const paid = await send({ function: 'transfer(address,uint256)', args: [RECEIVER, '7'] })
      expect(await lineOf(paid.id)).toMatch(new RegExp(`^pays: +7 units of ${RECEIVER}$`))
      const ofOthers = await send({
        function: 'transferFrom(address,address,uint256)',
        args: [RECEIVER, RECEIVER, 7],
      })
      expect(await lineOf(ofOthers.id)).toMatch(new RegExp(` 7 units of ${RECEIVER} from ${RECEIVER}$`))
      const called = await send({ function: 'mint(address,uint256)', args: [RECEIVER, 7] })
      expect(await lineOf(called.id)).toContain('mint(to: ')
      await story.settle()
    })

    test('finds what was paid to an account, and what has a reference', async () => {
      const body = JSON.stringify({ to: RECEIVER, value: 41, reference: 'invoice-41' })
      const { id } = await json('tx', 'send', 'main', body)
      await story.settle()
      const listed = async (...options: string[]) =>
        (await json<Transaction[]>('tx', 'list', ...options)).map((one) => one.id)
      expect(await listed('--reference', 'invoice-41')).toEqual([id])
      expect(
        await listed('main', '--to', RECEIVER, '--asset', 'native', '--after', '2020-01-01T00:00:00Z'),
      ).toContain(id)
      expect(await listed('main', '--reference', 'invoice-41', '--before', '2020-01-01T00:00:00Z')).toEqual(
        [],
      )
      expect((await call(2, 'tx', 'list', 'main', '--page', '2', '--to', RECEIVER)).err).toContain(
        'and no search',
      )
      const { out } = await call(
        0,
        'tx',
        'list',
        'main',
        '--reference',
        'invoice-41',
        '--key',
        'root',
        '--csv',
      )
      expect(out.map((line) => line.split(',').at(-1))).toEqual(['transaction_id', id])
      expect(out[1]).toContain(',native,ETH,41,0.000000000000000041,')
      expect((await call(2, 'tx', 'list', '--csv', '--page', '2')).err).toContain('--csv has no pages')
    })

    test('shows every attempt as a row of a table, and what a canceled transaction was for', async () => {
      const sent = await json('tx', 'send', 'main', request(HUGE))
      await story.reach(sent.id, 'submitted')
      await call(0, 'tx', 'cancel', 'main', sent.id)
      await story.settle()
      const { out } = await call(0, 'tx', 'show', 'main', sent.id)
      expect(out).toContainEqual(
        expect.stringMatching(/^pays: +nothing instead of 9\.223372036854775809 ETH$/),
      )
      expect(out).toContainEqual(expect.stringMatching(`^to: +${RECEIVER}$`))
      const table = out.slice(out.findIndex((line) => line.startsWith('ATTEMPT')))
      expect(table[0]).toMatch(/^ATTEMPT +KIND +OUTCOME +NONCE +PAYS +TO +PRICE +SIGNED +HASH/)
      expect(table[1]).toMatch(/^1 +send +superseded +[0-9]+ +9\.22\S+ ETH +0x\S+ +[0-9.…]+ gwei +20/)
      expect(table[2]).toMatch(/^2 +cancel +mined +[0-9]+ +does nothing +/)
      expect(out.join('\n')).not.toMatch(/[{}]/)
    })

    test('lists until when a transaction waits by its own request', async () => {
      const from = new Date(Date.now() + 3_600_000).toISOString()
      const body = `{"to":"${RECEIVER}","value":6,"speed":"fast","valid_from":"${from}"}`
      const { id } = await json('tx', 'send', 'main', body)
      const { out } = await call(0, 'tx', 'list', 'main', '--status', 'pending')
      await story.cancel(id)
      const [, time] = out.find((line) => line.startsWith(id))?.match(/ It waits until (\S+ \S+)\.$/) ?? []
      expect(time).toBe(`${from.slice(0, 19).replace('T', ' ')}Z`)
    })

    test('sends once with an idempotency key, and nothing as a dry run', async () => {
      const total = async () => (await json<Transaction[]>('tx', 'list', 'main', '--per-page', '100')).length
      const count = await total()
      const once = ['tx', 'send', 'main', request(3), '--idempotency-key', 'once']
      expect((await json(...once)).id).toBe((await json(...once)).id)
      expect(await json('tx', 'send', 'main', request(3), '--dry-run')).toMatchObject({ dry_run: true })
      const { out } = await call(0, 'tx', 'send', 'main', request(3), '--dry-run', '--follow')
      expect(out.join('\n')).toContain('accepted:')
      expect(await total()).toBe(count + 1)
      await story.settle()
    })

    test('follows a transaction until it is final, and tells by the exit code how it ended', async () => {
      const lines: string[] = []
      const sending = run(['tx', 'send', 'main', request(4), '--follow'], {
        out: (line) => lines.push(line),
        err: (line) => lines.push(line),
      })
      await until(
        async () => lines,
        (seen) => seen.some((line) => line.includes('  submitted  ')),
      )
      await story.mine(2)
      expect(await sending).toBe(0)
      const changes = lines.filter((line) =>
        /^20\d\d-\d\d-\d\d \d\d:\d\d:\d\dZ {2}[0-9a-f-]{36} {2}/.test(line),
      )
      const states = changes.map((line) => line.slice('2026-11-20 10:00:00Z  '.length))
      expect(new Set(states).size).toBe(states.length)
      const statuses = states.map((line) => line.split('  ')[1])
      expect(statuses.slice(-3)).toEqual(['submitted', 'mined', 'confirmed'])
      expect(states.at(-1)).toMatch(
        new RegExp(`  0\\.000000000000000004 ETH to ${RECEIVER}  block \\d+  fee 0\\.\\d+ ETH  0x`),
      )

      const canceled = await story.send({ to: RECEIVER, value: 5, speed: 'fast' })
      await story.cancel(canceled.id)
      await story.settle()
      const { out } = await call(1, 'tx', 'follow', 'main', canceled.id)
      expect(out).toEqual([expect.stringMatching(new RegExp(`^20\\S+ \\S+Z  ${canceled.id}  canceled  `))])
    })

    test('follows in the order of what happened, whatever happens between its requests', async () => {
      const proxy = await startUnreliableProxy(story.service.url)
      onTestFinished(() => proxy.stop())
      const { id } = await story.send({ to: RECEIVER, value: 8, speed: 'fast' })
      await story.reach(id, 'submitted')
      const changed = Promise.withResolvers<void>()
      proxy.holdRequests(async (before) => {
        if (before > 1) return
        for (const value of [9, 10].map((first) => first + 2 * before)) {
          const { hash } = await story.get(id)
          await story.replace(id, { to: RECEIVER, value, speed: 'fast' })
          await until(
            () => story.get(id),
            (seen) => seen.hash !== hash,
          )
        }
        if (before === 1) changed.resolve()
      })
      const url = process.env.RELAYER_URL
      process.env.RELAYER_URL = proxy.url
      const lines: string[] = []
      const following = run(['tx', 'follow', 'main', id], {
        out: (line) => lines.push(line),
        err: (line) => lines.push(line),
      })
      process.env.RELAYER_URL = url
      await changed.promise
      await story.settle()
      expect(await following).toBe(0)
      const states = lines.map((line) => line.slice('2026-11-20 10:00:00Z  '.length))
      expect(new Set(states).size).toBe(states.length)
      const told = states.map((line) => Number(line.match(/ 0\.0+(\d+) ETH to/)?.[1]))
      expect(told).toEqual(told.toSorted((one, other) => one - other))
      expect(states.at(-1)).toContain('  confirmed  ')
    })

    test('follows over connections that break, and misses nothing', async () => {
      const proxy = await startUnreliableProxy(story.service.url)
      onTestFinished(() => proxy.stop())
      const url = process.env.RELAYER_URL
      process.env.RELAYER_URL = proxy.url
      const { id } = await story.send({ to: RECEIVER, value: 7, speed: 'fast' })
      const lines: string[] = []
      const following = run(['tx', 'follow', 'main', id], {
        out: (line) => lines.push(line),
        err: (line) => lines.push(line),
      })
      process.env.RELAYER_URL = url
      await until(
        async () => proxy.streams.size,
        (streams) => streams > 0,
      )
      await story.reach(id, 'submitted')
      proxy.cutStreams()
      await story.mine(2)
      await story.reach(id, 'confirmed')
      expect(await following).toBe(0)
      expect(lines.at(-1)).toContain('  confirmed  ')
      expect(lines.join('\n')).not.toContain('terminated')
    })

    test('approves and refuses what waits', async () => {
      const rules = { require_approval: {} }
      const key = { name: 'Asks', scopes: ['transactions:write'], rules }
      const { body } = await story.service.api<{ secret: string }>('POST', '/api-keys', key)
      const headers = { authorization: `Bearer ${body.data.secret}` }
      const ask = async () =>
        (await story.service.api('POST', '/relayers/main/transactions', { to: RECEIVER, value: 6 }, headers))
          .body.data.id
      const [one, two] = [await ask(), await ask()]
      expect(await json<object>('tx', 'approve', 'main', one)).toMatchObject({ state: 'approved' })
      const { out } = await call(0, 'tx', 'refuse', 'main', two, '--reason', 'No one knows it.')
      expect(out.join('\n')).toMatch(/decision_reason: +No one knows it\./)
      const { err } = await call(1, 'tx', 'approve', 'main', two)
      expect(err).toBe(
        `Transaction ${two} was refused by API key root and is canceled. (409 approval_decided)`,
      )
      await story.settle()
    })

    test('says what is wrong, and repeats no argument that may be a secret', async () => {
      const { err: missing } = await call(2, 'tx', 'show', 'main')
      expect(missing).toBe(
        'The transaction id is missing. Usage: relayer tx show <relayer id> <transaction id>',
      )
      const { err: broken } = await call(2, 'tx', 'send', 'main', '{to: 0xsecret}')
      expect(broken).toContain('The request is not JSON.')
      expect(broken).not.toContain('secret')
      const { err: refused } = await call(1, 'tx', 'send', 'main', request(-1))
      expect(refused).toMatch(/^body\.value: .* \(400 invalid_request\)$/)
      const { err: nothing } = await call(1, 'tx', 'list', 'no such/relayer')
      expect(nothing).toMatch(/\(40[04] /)
    })
  })

  describe('relayer relayers', () => {
    test('lists, pauses and resumes', async () => {
      const { out } = await call(0, 'relayers', 'list')
      expect(out[0]).toMatch(/^ID +NETWORK +ADDRESS +STATE +NAME$/)
      expect(out[1]).toMatch(/^main +evm:anvil +0x[0-9a-fA-F]{40} +active +/)
      expect((await call(0, 'relayers', 'pause', 'main')).out).toEqual(['relayer main is paused'])
      const { err } = await call(1, 'tx', 'send', 'main', request(1))
      expect(err).toContain('relayer_paused')
      expect(await json<object>('relayers', 'resume', 'main')).toMatchObject({ paused: false })
    })
  })

  describe('a machine without a configuration', () => {
    test('verifies the audit log of the service, and lists what waits for a decision there', async () => {
      const { out } = await call(0, 'audit', 'verify')
      expect(out).toContainEqual(expect.stringMatching(/^relayer:main {2}\d+ entr/))
      expect(out.at(-1)).toMatch(/^\d+ chains: every entry matches$/)
      expect((await call(0, 'tx', 'decide')).out).toEqual(['no transaction waits for a decision'])
    })
  })

  describe('the service to ask', () => {
    test('has to be there', async () => {
      const url = process.env.RELAYER_URL
      process.env.RELAYER_URL = 'http://127.0.0.1:9'
      const { err } = await call(1, 'relayers', 'list')
      process.env.RELAYER_URL = 'ftp://127.0.0.1'
      const { err: wrong } = await call(2, 'relayers', 'list')
      process.env.RELAYER_URL = url
      expect(err).toBe(
        'The service at http://127.0.0.1:9 does not answer. Is it running, and is RELAYER_URL right?',
      )
      expect(wrong).toContain('RELAYER_URL must be the http:// or https:// url of a service')
    })

    test('needs a key for a service on another machine, and takes that of the configuration for one on this machine', async () => {
      const { RELAYER_URL: url } = process.env
      delete process.env.RELAYER_API_KEY
      const here = await call(2, 'relayers', 'list')
      process.env.RELAYER_URL = 'https://relayer.example'
      const elsewhere = await call(2, 'relayers', 'list')
      delete process.env.RELAYER_URL
      process.env.RELAYER_API_KEY = API_KEY
      const withKeyOnly = await call(2, 'relayers', 'list')
      process.env.RELAYER_URL = url
      // A key alone is for the service of the configuration.
      expect(withKeyOnly.err).toContain('There is no configuration file')
      expect(elsewhere.err).toContain('RELAYER_API_KEY is missing')
      expect(here.err).not.toContain('RELAYER_API_KEY')
      expect(here.err).toContain('config')
    })

    test('does not give the key of a configuration to another program of this machine', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'relayer-access-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      writeFileSync(
        join(folder, 'config.json'),
        '{"relayers":[],"signers":[],"networks":[],"notifications":[]}',
      )
      const env = { CONFIG_DIR: folder, API_KEY, APP_PORT: '18077' }
      const own = { url: 'http://127.0.0.1:18077', apiKey: API_KEY }
      expect(readApiAccess({ ...env, RELAYER_URL: own.url })).toEqual(own)
      expect(readApiAccess({ ...env, RELAYER_URL: 'http://127.0.0.1:9', RELAYER_API_KEY: 'k' }).apiKey).toBe(
        'k',
      )
      expect(() => readApiAccess({ ...env, RELAYER_URL: 'http://127.0.0.1:9' })).toThrow(
        'RELAYER_API_KEY is missing: an API key of the service at RELAYER_URL. The configuration in this folder is for http://127.0.0.1:18077',
      )
    })
  })
})

const HUGE = 2n ** 64n + 1n

test('a record shows every digit of an integer, at its top and inside of lists and objects', () => {
  expect(
    formatRecord({ id: 'a', nonce: HUGE, absent: undefined, attempts: [{ fee: HUGE, small: 7n }] }),
  ).toEqual([
    'id:       a',
    'nonce:    18446744073709551617',
    'attempts: [{"fee":18446744073709551617,"small":7}]',
  ])
})

test('a table aligns its columns, leaves absent values empty, and shortens long ones', () => {
  const lines = formatTable(
    ['ID', 'VALUE'],
    [
      ['a', HUGE],
      ['longer', undefined],
      ['b', 'x'.repeat(100)],
    ],
  )
  expect(lines).toEqual([
    'ID      VALUE',
    'a       18446744073709551617',
    'longer',
    `b       ${'x'.repeat(87)}…`,
  ])
})
