import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { currentProgram, hashOfSources, markOf } from '../../scripts/prepare/current-program.mjs'

const folder = mkdtempSync(join(tmpdir(), 'current-program-'))
afterAll(() => rmSync(folder, { recursive: true }))

const FILES = {
  'src/main.ts': 'main',
  'src/lib/other.ts': 'other',
  'scripts/prepare/program.ts': 'build',
  'openapi.yaml': 'contract',
  'package.json': '{}',
  'package-lock.json': '{}',
  'node_modules/.package-lock.json': '{}',
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** A clone whose program was just built. */
function built(): string {
  const root = mkdtempSync(join(folder, 'clone-'))
  for (const [path, text] of Object.entries(FILES)) write(root, path, text)
  write(root, 'dist/main.js', 'program')
  writeFileSync(markOf(root), hashOfSources(root))
  return root
}

test('a program that was built from the present sources is current, whatever their time is', () => {
  const root = built()
  utimesSync(join(root, 'src/main.ts'), 0, 0)
  expect(currentProgram(root)).toBe(join(root, 'dist/main.js'))
})

test.each(Object.keys(FILES))('a program is not current after %s has changed', (path) => {
  const root = built()
  write(root, path, 'changed')
  expect(currentProgram(root)).toBeUndefined()
})

test('a program is not current after a source was added, moved or removed, and not before its build is complete', () => {
  const [added, moved, removed, unfinished] = [built(), built(), built(), built()]
  write(added, 'src/new.ts', '')
  rmSync(join(moved, 'src/lib/other.ts'))
  write(moved, 'src/lib/moved.ts', FILES['src/lib/other.ts'])
  rmSync(join(removed, 'src/lib/other.ts'))
  rmSync(markOf(unfinished))
  expect([added, moved, removed, unfinished].map(currentProgram)).toEqual(Array(4).fill(undefined))
})
