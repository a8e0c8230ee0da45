import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

test('every test that SECURITY.md names exists, and every promise names one', () => {
  const text = readFileSync(resolve(ROOT, 'SECURITY.md'), 'utf8')
  const [, section = ''] = text.split(/^## Promises$|^## What is not promised$/m)
  const promises = section
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|(---| Promise | Question )/.test(line))
  expect(promises.length).toBeGreaterThan(15)
  for (const promise of promises) {
    const tests = [...promise.matchAll(/`((?:test|scripts)\/[^`]+)`/g)].map(([, path = '']) => path)
    expect(tests, promise).not.toEqual([])
    expect(
      tests.filter((path) => !existsSync(resolve(ROOT, path))),
      promise,
    ).toEqual([])
  }
})
