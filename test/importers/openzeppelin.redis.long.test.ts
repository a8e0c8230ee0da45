import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Redis, startRedis } from '../support/redis.ts'
import { OPENZEPPELIN_FILE, OPENZEPPELIN_RECORDS } from './openzeppelin-records.ts'
import { makeFolder, runImport } from './run-import.ts'

let redis: Redis

beforeAll(async () => {
  redis = await startRedis()
  // As the service writes them: a set of ids for each kind, and a text for each record.
  for (const { kind, id, value } of OPENZEPPELIN_RECORDS) {
    await redis.call('SADD', `oz-relayer:${kind}_list`, id)
    await redis.call('SET', `oz-relayer:${kind}:${id}`, JSON.stringify(value))
  }
})
afterAll(() => redis.stop())

/** The shell lines of a text, between `for` and `records.jsonl`. */
function shellIn(text: string): string {
  const [lines = ''] = /^ *for kind in [\s\S]*?records\.jsonl$/m.exec(text) ?? []
  return lines.replaceAll(/^ {2}/gm, '')
}

test('the shell lines of the help export every record, need no right to write, and are those of the page', async () => {
  const { out: help } = await runImport('import', 'openzeppelin', '--help')
  const page = await readFile('docs/coming-from-openzeppelin-relayer.md', 'utf8')
  const normal = (text: string) => shellIn(text).replaceAll(/^ +/gm, '')
  expect(normal(page)).toBe(normal(help))

  const folder = await makeFolder()
  // The right to read is enough.
  await redis.call('ACL', 'SETUSER', 'reader', 'on', '>reads', '~*', '+@read', '+select')
  const client = `redis-cli -p ${redis.port} --user reader --pass reads --no-auth-warning`
  const script = shellIn(help).replaceAll('redis-cli', client)
  await promisify(execFile)('sh', ['-c', script], { cwd: folder })

  const records = join(folder, 'records.jsonl')
  const exported = (await readFile(records, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const byId = (one: { id: string }, other: { id: string }) => one.id.localeCompare(other.id)
  expect(exported.sort(byId)).toEqual(
    OPENZEPPELIN_RECORDS.map(({ value }) => value as { id: string }).sort(byId),
  )

  const file = join(folder, 'old.json')
  await writeFile(file, JSON.stringify(OPENZEPPELIN_FILE))
  const { code, err } = await runImport('import', 'openzeppelin', file, '--records', records)
  expect({ code, err }).toMatchObject({
    code: 0,
    err: expect.stringContaining('Taken: 4 relayers, 5 signers, 2 notifications.'),
  })
})
