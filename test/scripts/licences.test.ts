import { expect, test } from 'vitest'
import { isPermissive, licencesText } from '../../scripts/release/licences.ts'

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['MIT AND Apache-2.0', true],
  ['MIT AND GPL-3.0-only', false],
  ['AGPL-3.0-only', false],
  ['SEE LICENSE IN LICENSE.md', false],
  [undefined, false],
])('a package under %s is permissive: %s', (license, wanted) => {
  expect(isPermissive(license)).toBe(wanted)
})

test('a licence text that packages share is written once, with their names', () => {
  const one = { version: '1.0.0', license: 'MIT', texts: ['Text of MIT\n'] }
  const text = licencesText([
    { ...one, name: 'b' },
    { ...one, name: 'a' },
    { name: 'c', version: '2.0.0', license: undefined, texts: [] },
  ])
  expect(text).toMatch(/^a 1\.0\.0: MIT\nb 1\.0\.0: MIT\nc 2\.0\.0: unknown\n/)
  expect(text.match(/Text of MIT/g)).toHaveLength(1)
  expect(text).toContain('a 1.0.0\nb 1.0.0\n\nText of MIT\n')
})
