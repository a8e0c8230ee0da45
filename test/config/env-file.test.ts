import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseEnv } from 'node:util'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { firstBadLine, readEnvFile } from '../../src/config/env-file.ts'
import { loadConfig } from '../../src/config/load.ts'
import { distrust } from '../../src/lib/trusted-files.ts'

let folder: string
let path: string
let config: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relayer-env-'))
  path = join(folder, '.env')
  config = join(folder, 'config.json')
  writeFileSync(config, '{}')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const read = () => readEnvFile(path, config)

describe('a file .env', () => {
  test('of an ordinary deployment is read as Node.js reads it', () => {
    const text = [
      '\ufeff# A comment',
      '',
      'PLAIN=value',
      'SPACED = value with = and # a comment',
      '  INDENTED=1',
      'export EXPORTED=x',
      'EMPTY=',
      'dotted.name-1=y',
      'QUOTED="a # b" # c',
      "SINGLE='a\"b'",
      'BACK=`a`',
      'KEY="-----BEGIN KEY-----',
      'no = variable',
      '-----END KEY-----"',
      'OPEN="no end',
      'WINDOWS=1\r',
      '\t',
      'UNICODE=ключ',
    ].join('\n')
    writeFileSync(path, text)
    expect(read()).toEqual(parseEnv(text))
    expect(read()).toMatchObject({ KEY: expect.stringContaining('no = variable'), UNICODE: 'ключ' })
  })

  test('that is absent has no variable', () => {
    expect(read()).toEqual({})
  })

  test.each([
    ['a NUL', 'A=1\nB=\0', 2],
    ['a line without a variable', 'A=1\nhello world', 2],
    ['an escape sequence', 'A=\u001b[31m', 1],
    ['bytes that are no text', Buffer.from([0x41, 0x3d, 0xff, 0xfe]), 1],
    ['a NUL inside quotes', 'A="x\n\0\n"', 2],
    ['a carriage return that hides a line', '# comment\rAPI_KEY=x', 1],
    ['a name that begins with a digit', '1A=x', 1],
  ])('with %s ends the start with the number of the line', (_what, content, line) => {
    writeFileSync(path, content)
    expect(read).toThrow(
      `${path} is no file of variables: line ${line} is neither NAME=value, nor a comment, nor empty`,
    )
  })

  test('that is a database with a variable in a row ends the start', () => {
    const database = new DatabaseSync(path)
    database.exec("create table t (v text); insert into t values ('\n\nDATABASE_URL=postgres://x/y\n\n')")
    database.close()
    expect(read).toThrow('is no file of variables: line 1')
  })

  test('shows no value when it is refused', () => {
    writeFileSync(path, 'API_KEY=very-secret\n\0very-secret')
    expect(read).toThrow(expect.not.stringContaining('very-secret'))
  })

  test('that every user can write ends the start', () => {
    writeFileSync(path, 'A=1')
    chmodSync(path, 0o666)
    expect(read).toThrow(`${path} can be written by every user of this machine (mode 0666)`)
    chmodSync(path, 0o664)
    expect(read()).toEqual({ A: '1' })
  })

  test('of the working folder is not read, and the problem that a variable is missing tells where it belongs', () => {
    const of = join(folder, 'config')
    mkdirSync(of)
    writeFileSync(join(of, 'config.json'), '{}')
    const load = () => loadConfig({}, folder)
    writeFileSync(path, `API_KEY=${'k'.repeat(32)}\nOTHER=1\n`)
    expect(load).toThrow(`${path} sets API_KEY, but is not read: move the lines to ${join(of, '.env')}`)
    rmSync(path)
    mkdirSync(path)
    expect(load).toThrow('API_KEY is missing')
    expect(load).not.toThrow('is not read')
  })

  test('never hides a variable behind text that is accepted', () => {
    const piece = fc.constantFrom('A=1', '# c', '\n', '\r', '\0', '"', "'", 'x', '=', ' ', 'B=2', '\u0007')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        if (firstBadLine(text) === undefined)
          expect(['\0', '\u0007'].some((one) => text.includes(one))).toBe(false)
      }),
    )
  })
})

/** [owner, mode, other users to trust, user of the process, reason] */
test.each([
  [1000, 0o600, [], 1000, undefined],
  [0, 0o644, [], 1000, undefined],
  [1001, 0o644, [1001], 1000, undefined],
  [1001, 0o644, [], 0, undefined],
  [1001, 0o664, [1002], 1000, 'belongs to user 1001, and this process runs as user 1000'],
  [1000, 0o646, [], 1000, 'can be written by every user of this machine (mode 0646)'],
  [0, 0o602, [], 0, 'can be written by every user of this machine (mode 0602)'],
])('a file of user %i with mode %o is trusted, or the reason is named', (uid, mode, others, user, reason) => {
  expect(distrust({ uid, mode }, others, user)).toBe(reason)
})
