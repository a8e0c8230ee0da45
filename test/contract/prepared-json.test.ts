import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import {
  loadContract,
  parseDocumentJson,
  parseYaml,
  readPreparedJson,
  writePreparedJson,
} from '../../src/contract/document.ts'
import { stringifyJson } from '../../src/contract/exact-integers.ts'
import { createValidator } from '../../src/contract/validator.ts'

const folder = mkdtempSync(join(tmpdir(), 'relayer-contract-'))
const file = join(folder, 'dist', 'openapi.json')
const yaml = readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8')

afterAll(() => rmSync(folder, { recursive: true }))

test('the document that is read from JSON is the one that is read from YAML', async () => {
  const document = await parseYaml(yaml)
  expect(parseDocumentJson(stringifyJson(document))).toEqual(document)
})

test('integers of any size and other numbers stay what YAML makes of them', async () => {
  const text =
    'wide: 340282366920938463463374607431768211455\nsmall: -1\nhalf: 0.5\ntext: "1"\nlist: [1, 2.5]\n'
  expect(parseDocumentJson(stringifyJson(await parseYaml(text)))).toEqual({
    wide: 340282366920938463463374607431768211455n,
    small: -1n,
    half: 0.5,
    text: '1',
    list: [1n, 2.5],
  })
})

test('prepared JSON is used for the text that it was made from, and for no other', () => {
  expect(readPreparedJson(yaml, file)).toBeUndefined()
  writePreparedJson({ yaml, json: '{"a":1}' }, file)
  expect(readPreparedJson(yaml, file)).toBe('{"a":1}')
  expect(readPreparedJson(`${yaml}\n`, file)).toBeUndefined()
})

test('every operation compiles before its first request', async () => {
  const contract = await loadContract()
  await expect(createValidator(contract).compile()).resolves.toBeUndefined()
  const [operation] = contract.operations
  if (operation === undefined) throw new Error('no operation')
  const broken = [{ ...operation, body: { mediaTypes: [], schema: { type: 'nothing' } } }]
  await expect(createValidator({ ...contract, operations: broken }).compile()).rejects.toThrow()
})

test('schemas are compiled in a pause between requests', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const contract = await loadContract()
    const operations = contract.operations.filter(({ id }) => id === 'listRelayers')
    const validator = createValidator({ ...contract, operations })
    validator.request('listRelayers', { path: {}, querystring: '', body: undefined })
    let isCompiled = false
    const compiling = validator.compile().then(() => {
      isCompiled = true
    })
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(isCompiled).toBe(false)
    vi.advanceTimersByTime(100)
    await compiling
  } finally {
    vi.useRealTimers()
  }
})
