import { createCipheriv, randomBytes } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createSecretOpener } from '../../importers/openzeppelin-secrets.ts'
import { makeFolder, runImport } from './run-import.ts'

const KEY = randomBytes(32)
const RAW_KEY = Buffer.from('59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d', 'hex')
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')

/** Seals a text as that service does: version 2 authenticates the name of the record. */
function seal(text: string, name?: string): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', KEY, nonce)
  if (name !== undefined) cipher.setAAD(Buffer.from(name))
  const bytes = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])
  const version = name === undefined ? 1 : 2
  return base64(JSON.stringify({ nonce: base64(nonce), ciphertext: base64(bytes), version }))
}

const SIGNER = { kind: 'signer', id: 'made' }
const NAME = 'oz-relayer:signer:made'
const open = createSecretOpener({ key: KEY, prefix: 'oz-relayer' })

test.each([
  ['of version 1', seal('text'), 'text'],
  ['of version 2', seal('text', NAME), 'text'],
  ['encoded twice', base64(seal('text', NAME)), 'text'],
  ['that was never encrypted', base64(base64('"text"')), 'text'],
  ['of another record', seal('text', 'oz-relayer:signer:other'), undefined],
  ['that is none', 'not a secret', undefined],
  ['of a version that is not known', base64('{"nonce":"AA==","ciphertext":"AA==","version":3}'), undefined],
])('a secret %s is opened, or not', (_what, sealed, text) => {
  expect(open(sealed, SIGNER)).toBe(text)
})

test('another key opens nothing', () => {
  const other = createSecretOpener({ key: randomBytes(32), prefix: 'oz-relayer' })
  expect(other(seal('text', NAME), SIGNER)).toBeUndefined()
})

test('the import writes the opened secrets to a private file, and prints none', async () => {
  const folder = await makeFolder()
  const records = [
    { id: 'made', config: { Local: { raw_key: seal(base64(RAW_KEY), NAME) } } },
    {
      id: 'hooks',
      notification_type: 'webhook',
      url: 'https://hooks.example',
      signing_key: base64(seal('a-signing-key-of-a-webhook-receiver', 'oz-relayer:notification:hooks')),
    },
  ]
  await writeFile(join(folder, 'old.json'), '{}')
  await writeFile(join(folder, 'records.jsonl'), records.map((record) => JSON.stringify(record)).join('\n'))
  process.env.STORAGE_ENCRYPTION_KEY = base64(KEY)
  onTestFinished(() => void delete process.env.STORAGE_ENCRYPTION_KEY)
  const paths = { records: join(folder, 'records.jsonl'), out: join(folder, 'new/config.json') }
  const { code, out, err } = await runImport(
    'import',
    'openzeppelin',
    join(folder, 'old.json'),
    '--records',
    paths.records,
    '--out',
    paths.out,
  )
  expect(code).toBe(0)
  const secrets = join(folder, 'new/secrets.env')
  expect(await readFile(secrets, 'utf8')).toBe(
    `MADE_KEY=${RAW_KEY.toString('hex')}\nHOOKS_SIGNING_KEY=a-signing-key-of-a-webhook-receiver\n`,
  )
  expect((await stat(secrets)).mode & 0o777).toBe(0o600)
  expect(err).toContain('new/secrets.env (2 secrets of the records)')
  const config = await readFile(paths.out, 'utf8')
  for (const text of [out, err, config])
    for (const secret of [RAW_KEY.toString('hex'), 'a-signing-key']) expect(text).not.toContain(secret)
  expect(JSON.parse(config).signers).toEqual([
    { id: 'made', type: 'plain', config: { key: { type: 'env', value: 'MADE_KEY' } } },
  ])
})
