import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RULES, type Rules } from '../../scripts/imports/rules.ts'
import { findViolations } from '../../scripts/imports/violations.ts'
import { findBannedNames, findBannedProse } from '../../scripts/words/violations.ts'

const SMALL: Rules = {
  arrows: {
    'shell/': ['rooms/', 'errors.ts'],
    'rooms/': ['outside/chain.ts', 'errors.ts'],
    'outside/': [],
    'errors.ts': [],
  },
  packages: { sdk: { in: ['outside/'] }, orm: { in: ['*store.ts'], typesAnywhere: true } },
  onlyIn: { 'process.env': ['errors.ts'] },
}

/** What is wrong with a tree of these files. */
function violationsOf(files: Readonly<Record<string, string>>, rules: Rules = SMALL): string[] {
  const root = mkdtempSync(join(tmpdir(), 'relayer-imports-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      writeFileSync(join(root, name), text)
    }
    return findViolations(root, rules)
  } finally {
    rmSync(root, { recursive: true })
  }
}

describe('arrows', () => {
  test('a tree that follows them is silent', () => {
    const files = {
      'shell/a.ts': "import { b } from '../rooms/b.ts'\nimport { readFile } from 'node:fs/promises'\n",
      'rooms/b.ts':
        "import type { C } from '../outside/chain.ts'\nimport './helper.ts'\nexport const b = 1\n",
      'rooms/helper.ts': "import '../errors.ts'\n",
      'outside/chain.ts': "import 'sdk/deep/inside'\nexport interface C {}\n",
      'errors.ts': 'export {}\n',
    }
    expect(violationsOf(files)).toEqual([])
  })

  test('two folders that import each other are named, although no file is in a cycle', () => {
    const rules: Rules = {
      ...SMALL,
      arrows: { ...SMALL.arrows, 'rooms/': ['outside/'], 'outside/': ['rooms/'] },
    }
    const files = {
      'rooms/a.ts': "import '../outside/a.ts'\n",
      'rooms/b.ts': 'export {}\n',
      'outside/a.ts': 'export {}\n',
      'outside/b.ts': "import '../rooms/b.ts'\n",
    }
    expect(violationsOf(files, rules)).toEqual([
      'outside/ and rooms/ import each other: outside/b.ts -> rooms/b.ts, rooms/a.ts -> outside/a.ts',
    ])
  })

  test.each([
    {
      name: 'upward',
      file: 'rooms/b.ts',
      text: "import '../shell/a.ts'",
      says: 'rooms/b.ts:1: imports shell/a.ts; rooms/ may not',
    },
    {
      name: 'as a type',
      file: 'rooms/b.ts',
      text: "import type { A } from '../shell/a.ts'",
      says: 'imports shell/a.ts',
    },
    {
      name: 'as an export',
      file: 'rooms/b.ts',
      text: "\nexport { a } from '../shell/a.ts'",
      says: 'rooms/b.ts:2: imports shell/a.ts',
    },
    {
      name: 'while running',
      file: 'rooms/b.ts',
      text: "const a = await import('../shell/a.ts')",
      says: 'imports shell/a.ts',
    },
    {
      name: 'inside a type',
      file: 'rooms/b.ts',
      text: "type A = import('../shell/a.ts').A",
      says: 'imports shell/a.ts',
    },
    {
      name: 'past the door of a folder',
      file: 'rooms/b.ts',
      text: "import '../outside/evm/client.ts'",
      says: 'imports outside/evm/client.ts',
    },
    {
      name: 'a folder without a rule',
      file: 'attic/b.ts',
      text: "import '../errors.ts'",
      says: 'attic/ has no rule',
    },
    {
      name: 'generated types',
      file: 'rooms/b.ts',
      text: "import '../../generated/api.d.ts'",
      says: 'only contract/operations.ts does',
    },
  ])('$name', ({ file, text, says }) => {
    expect(violationsOf({ [file]: text })).toEqual([expect.stringContaining(says)])
  })
})

describe('packages', () => {
  test.each([
    { name: 'where it may be', file: 'outside/a.ts', text: "import sdk from 'sdk'", says: undefined },
    {
      name: 'elsewhere',
      file: 'rooms/a.ts',
      text: "import sdk from 'sdk'",
      says: 'rooms/a.ts:1: imports sdk; only outside/ may',
    },
    {
      name: 'only its types, elsewhere',
      file: 'rooms/a.ts',
      text: "import type { S } from 'sdk'",
      says: 'imports sdk',
    },
    {
      name: 'types that may be anywhere',
      file: 'rooms/a.ts',
      text: "import { type A, type B } from 'orm'",
      says: undefined,
    },
    {
      name: 'a value among the types',
      file: 'rooms/a.ts',
      text: "import { type A, b } from 'orm'",
      says: 'imports orm; only *store.ts may',
    },
    {
      name: 'by the end of the name',
      file: 'rooms/work-store.ts',
      text: "import { b } from 'orm'",
      says: undefined,
    },
    {
      name: 'unknown',
      file: 'rooms/a.ts',
      text: "import x from '@scope/left-pad/deep'",
      says: 'imports @scope/left-pad, which has no rule',
    },
  ])('$name', ({ file, text, says }) => {
    expect(violationsOf({ [file]: text })).toEqual(says === undefined ? [] : [expect.stringContaining(says)])
  })
})

describe('cycles', () => {
  const circle = (first: string) => ({
    'rooms/a.ts': first,
    'rooms/b.ts': "import { c } from './c.ts'\n",
    'rooms/c.ts': "import { a } from './a.ts'\n",
  })

  test('are told once, however many ways lead into them', () => {
    const files = {
      ...circle("import { b } from './b.ts'\n"),
      'shell/z.ts': "import '../rooms/c.ts'\nimport '../rooms/b.ts'\n",
    }
    expect(violationsOf(files)).toEqual(['cycle: rooms/a.ts -> rooms/b.ts -> rooms/c.ts -> rooms/a.ts'])
  })

  test.each(["import type { B } from './b.ts'\n", "import { type B } from './b.ts'\n"])(
    'include those of types: %s',
    (first) => {
      expect(violationsOf(circle(first))).toEqual([
        'cycle: rooms/a.ts -> rooms/b.ts -> rooms/c.ts -> rooms/a.ts',
      ])
    },
  )
})

test('text that belongs to one file is found in code, not in comments', () => {
  const files = {
    'errors.ts': 'export const a = process.env.A\n',
    'rooms/a.ts': '/** Never reads process.env. */\nexport const a = 1 // process.env\n',
    'rooms/b.ts': 'export const b = process.env.B\n',
  }
  expect(violationsOf(files)).toEqual(['rooms/b.ts: uses process.env; only errors.ts may'])
})

test('this repository follows its own rules', () => {
  expect(findViolations(fileURLToPath(new URL('../../src', import.meta.url)), RULES)).toEqual([])
})

describe('the check of words', () => {
  let root: string
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'check-words-'))
  })
  afterAll(() => rmSync(root, { recursive: true }))

  test('names each declared name with a banned word, and the term to use instead', () => {
    writeFileSync(
      join(root, 'a.ts'),
      `export function runErrand(online: boolean) {}
export interface Health { readonly lapsesAt: Date; readonly online: boolean }
const BASE_PLACE = 1
export type Verdict = 'ok'
class Fleet {}
const errand = 1
export function send(room: string) { const { foreign } = Health }
export const workplace = errand
`,
    )
    const found = findBannedNames(root)
    expect(found.map((text) => text.split(' ').slice(0, 2).join(' '))).toEqual([
      'a.ts:1: runErrand',
      'a.ts:2: lapsesAt',
      'a.ts:3: BASE_PLACE',
      'a.ts:4: Verdict',
      'a.ts:5: Fleet',
      'a.ts:6: errand',
      'a.ts:7: room',
      'a.ts:7: foreign',
    ])
    expect(found[0]).toContain('setup transaction')
  })

  test('names each line of a comment or a message with a banned word or phrase', () => {
    writeFileSync(
      join(root, 'a.ts'),
      "/** It starts anew. */\nexport const text = 'for goods'\nlog('Lost for good.')\n",
    )
    expect(findBannedProse(root, ['a.ts']).map((text) => text.split(' ')[0])).toEqual(['a.ts:1:', 'a.ts:3:'])
  })
})
