import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../src/database/database.ts'
import { createLogger } from '../../../src/log.ts'
import { relayer } from '../../cli/spawn.ts'
import { API_KEY, startService } from '../../support/service.ts'

interface Printed {
  readonly ok: boolean
  readonly chains: readonly { chain: string; entries: number; head: string; problem?: object }[]
}

test('relayer audit verify finds changes of the database, and heads that were kept', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'relayer-audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const dataDir = join(folder, 'data')
  const service = await startService({ rpcUrls: ['http://127.0.0.1:9'], dataDir })
  for (const paused of [true, false, true])
    expect((await service.api('PATCH', '/relayers/main', { paused })).status).toBe(200)
  await service.stop()

  await relayer({ cwd: folder, args: ['init'] })
  const env = { DATA_DIR: dataDir }
  const verify = (...args: string[]) => relayer({ cwd: folder, args: ['audit', 'verify', ...args], env })
  const whole = await verify('--json')
  expect(whole.code, whole.err).toBe(0)
  const printed = JSON.parse(whole.out) as Printed
  expect(printed).toEqual({
    ok: true,
    chains: [{ chain: 'management', entries: 8, head: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  })
  const head = `management=${printed.chains[0]?.head}`
  const text = await verify('--head', head)
  expect(text).toMatchObject({ code: 0, out: expect.stringContaining('1 chain: every entry matches') })
  expect(text.out).toContain(`management  8 entries  ${printed.chains[0]?.head}`)

  // The same while a service has the database, from the entries that it lists.
  const running = await startService({ rpcUrls: ['http://127.0.0.1:9'], dataDir })
  const asks = { ...env, RELAYER_URL: running.url, RELAYER_API_KEY: API_KEY }
  const ask = (...args: string[]) => relayer({ cwd: folder, args: ['audit', 'verify', ...args], env: asks })
  expect(await ask('--head', head)).toMatchObject({
    code: 0,
    out: expect.stringContaining(`management  8 entries  ${printed.chains[0]?.head}`),
    err: expect.stringContaining('reading its audit log over the API'),
  })
  expect(await ask('--head', `management=${'0'.repeat(63)}1`)).toMatchObject({
    code: 1,
    err: expect.stringContaining('none of its 8 entries has the kept hash'),
  })
  await running.stop()

  expect(await verify('--head', 'management=1')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--head: expected'),
  })
  expect(await verify('--head', `${head},relayer:main=${'0'.repeat(63)}1`)).toMatchObject({
    code: 1,
    err: expect.stringContaining('relayer:main: none of its 0 entries has the kept hash'),
  })
  expect(await verify('--head', `management=${'0'.repeat(63)}1`)).toMatchObject({
    code: 1,
    err: expect.stringContaining('none of its 8 entries has the kept hash'),
  })

  const { db, close } = await openDatabase({ dataDir }, createLogger({ level: 'silent' }))
  await sql`alter table audit_log disable trigger all`.execute(db)
  await sql`update audit_log set actor = 'somebody' where chain = 'management' and number = 7`.execute(db)
  await close()
  expect(await verify()).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      'management: entry 7 was changed, or an entry before it\n1 of 1 chain does not fit',
    ),
  })
  const broken = await verify('--json')
  expect(broken.code).toBe(1)
  expect(JSON.parse(broken.out)).toMatchObject({
    ok: false,
    chains: [{ chain: 'management', entries: 6, problem: { kind: 'changed', entry: 7 } }],
  })
  const deceived = await startService({ rpcUrls: ['http://127.0.0.1:9'], dataDir })
  const asked = await relayer({
    cwd: folder,
    args: ['audit', 'verify', '--json'],
    env: { ...env, RELAYER_URL: deceived.url, RELAYER_API_KEY: API_KEY },
  })
  expect(JSON.parse(asked.out)).toEqual(JSON.parse(broken.out))
  await deceived.stop()
}, 120_000)
