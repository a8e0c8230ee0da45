import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import {
  findLayoutViolations,
  findRootViolation,
  LAYOUT,
  type LayoutRules,
} from '../../scripts/layout/violations.ts'

const SMALL: LayoutRules = { entries: 3, lines: 4, rootFiles: 2, folders: {}, files: {} }

/** The violations of a tree of these files. */
function violationsOf(files: Readonly<Record<string, string>>, rules: Partial<LayoutRules> = {}): string[] {
  const root = mkdtempSync(join(tmpdir(), 'relayer-layout-'))
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      writeFileSync(join(root, name), text)
    }
    return findLayoutViolations(root, { ...SMALL, ...rules })
  } finally {
    rmSync(root, { recursive: true })
  }
}

const LONG = '// 1\n// 2\n// 3\n// 4\n'

test('a folder with more entries than the limit is named, sub-folders included', () => {
  const files = { 'a/1.ts': LONG, 'a/2.ts': LONG, 'a/3.ts': LONG, 'a/b/4.ts': LONG }
  expect(violationsOf(files)).toEqual([expect.stringContaining('a: has 4 entries; at most 3.')])
  expect(violationsOf(files, { folders: { a: 'They are alike.' } })).toEqual([])
})

test('a small file with one importer is to be moved into it, also when only its types are used', () => {
  const files = { 'a.ts': `import type { B } from './b.ts'\n${LONG}`, 'b.ts': 'export interface B {}\n' }
  expect(violationsOf(files)).toEqual(['b.ts: has 1 lines and one importer; move it into a.ts.'])
  expect(violationsOf(files, { files: { 'b.ts': 'A build replaces it.' } })).toEqual([])
})

test('a small file with two importers, a long one with one, and a program may stay', () => {
  const one = `import './b.ts'\nimport './long.ts'\n${LONG}`
  const files = { 'a.ts': one, 'c.ts': `import './b.ts'\n${LONG}`, 'b.ts': '', 'sub/long.ts': LONG }
  expect(violationsOf({ ...files, 'long.ts': LONG }, { entries: 9 })).toEqual([])
})

test('an exception that is needed no more is told', () => {
  const told = 'b.ts: needs no exception; remove it from scripts/layout/violations.ts.'
  expect(violationsOf({ 'a.ts': LONG }, { files: { 'b.ts': 'It was small.' } })).toEqual([told])
  expect(violationsOf({ 'b.ts': LONG }, { files: { 'b.ts': 'It was small.' } })).toEqual([told])
})

test('the root of the repository has few files', () => {
  expect(findRootViolation(['a', 'b', 'src/c', 'src/d'], SMALL)).toEqual([])
  expect(findRootViolation(['a', 'b', 'c'], SMALL)).toEqual([
    'The root has 3 files; at most 2 may stand there.',
  ])
})

test('this repository follows its own rules', () => {
  expect(findLayoutViolations(fileURLToPath(new URL('../../src', import.meta.url)), LAYOUT)).toEqual([])
})
