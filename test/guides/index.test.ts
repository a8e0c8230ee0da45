import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const DOCS = join(import.meta.dirname, '../../docs')

test('the index of the documentation lists every page', () => {
  const index = readFileSync(join(DOCS, 'README.md'), 'utf8')
  const linked = new Set([...index.matchAll(/\]\(([\w/-]+\.md)\)/g)].map(([, page]) => page))
  const pages = globSync('**/*.md', { cwd: DOCS }).filter((page) => page !== 'README.md')
  expect(pages.length).toBeGreaterThan(40)
  expect(pages.filter((page) => !linked.has(page))).toEqual([])
})
