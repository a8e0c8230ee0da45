import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const SOURCE = 'src'

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith(join('database', 'migrations')))
  .map((name) => ({ name, text: readFileSync(join(SOURCE, name), 'utf8') }))

const withText = (pattern: RegExp) => files.filter(({ text }) => pattern.test(text))

/** What locks rows or a table until the commit. */
const LOCKS =
  /\.for(?:NoKey)?(?:Update|Share)\(|\bfor (?:no key )?(?:update|share)\b(?! skip)|lock table |pg_advisory/

test('each file that locks rows names the order of locks', () => {
  expect(
    withText(LOCKS)
      .filter(({ text }) => !text.includes('lock-order.md'))
      .map(({ name }) => name),
  ).toEqual([])
})

test('each database transaction that writes runs in transact, which repeats what the server rolled back', () => {
  const own = withText(/\.transaction\(\)/).filter(({ text }) => !/\.setAccessMode\('read only'\)/.test(text))
  expect(own.map(({ name }) => name)).toEqual([join('database', 'locks', 'transact.ts')])
})
