import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findBannedNames } from '../../scripts/words/violations.ts'

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'check-words-'))
})
afterAll(() => rmSync(root, { recursive: true }))

test('names each exported name with a banned word, and the term to use instead', () => {
  writeFileSync(
    join(root, 'a.ts'),
    `export function runErrand() {}
export interface Health { readonly lapsesAt: Date; readonly online: boolean }
export const BASE_LINE = 1
export type Verdict = 'ok'
export class Fleet {}
const errand = 1
export function encodeTrustLine() {}
export const coastline = errand
`,
  )
  const found = findBannedNames(root)
  expect(found.map((text) => text.split(' ').slice(0, 2).join(' '))).toEqual([
    'a.ts:1: runErrand',
    'a.ts:2: lapsesAt',
    'a.ts:3: BASE_LINE',
    'a.ts:4: Verdict',
    'a.ts:5: Fleet',
  ])
  expect(found[0]).toContain('setup transaction')
})
