import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { escapeWideCharacters } from '../../scripts/prepare/one-byte-text.ts'

const escaped = (code: string) => escapeWideCharacters(code, 'file.js')

test.each([
  ['a text', "'… and 🦊'", "'\\u2026 and \\ud83e\\udd8a'"],
  ['a template', '`…`', '`\\u2026`'],
  ['a regular expression', '/[…—]/u', '/[\\u2026\\u2014]/u'],
  ['a comment', '// …\n1 /* → */', '// \\u2026\n1 /* \\u2192 */'],
  ['a backslash without a meaning', "'\\…'", "'\\u2026'"],
  ['a backslash that is escaped', "'\\\\…'", "'\\\\\\u2026'"],
])('wide characters of %s become escape sequences', (_, code, expected) => {
  expect(escaped(code)).toBe(expected)
})

test.each([
  ['characters of one byte', "'é \\n'"],
  ['what a tag reads as it is written', 'String.raw`…`'],
  ['a line that goes on', "'\\\u2028'"],
  ['a name', 'const café = 1, ā = 2'],
])('%s stay', (_, code) => {
  expect(escaped(code)).toBe(code)
})

test('the program means the same', () => {
  const code = "['… ' + `→`, '\\…', /^[\u{1f98a}]$/u.test('\u{1f98a}'), String.raw`…`].join()"
  expect(runInNewContext(escaped(code))).toBe('… →,…,true,…')
})
