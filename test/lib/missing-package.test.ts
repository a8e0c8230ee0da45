import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { isMissingPackage } from '../../src/lib/package-files.ts'

const NONE = 'a-package-that-nobody-installs'

async function failureOf(run: () => unknown): Promise<unknown> {
  try {
    await run()
  } catch (error) {
    return error
  }
  throw new Error('nothing failed')
}

test('a package that is not installed is missing for import and for require', async () => {
  const require = createRequire(import.meta.url)
  expect(isMissingPackage(await failureOf(() => import.meta.resolve(`${NONE}/a.js`)), NONE)).toBe(true)
  expect(isMissingPackage(await failureOf(() => require.resolve(NONE)), NONE)).toBe(true)
  expect(isMissingPackage(await failureOf(() => require.resolve(`${NONE}/a.js`)), NONE)).toBe(true)
})

test.each([
  [
    'another package',
    Object.assign(new Error(`Cannot find package 'kysely' imported from x`), {
      code: 'ERR_MODULE_NOT_FOUND',
    }),
  ],
  [
    'a package whose name begins the same',
    Object.assign(new Error(`Cannot find package '${NONE}-too' imported from x`), {
      code: 'ERR_MODULE_NOT_FOUND',
    }),
  ],
  ['an error without a code', new Error(`Cannot find package '${NONE}'`)],
  ['nothing', undefined],
])('%s is not', (_, error) => {
  expect(isMissingPackage(error, NONE)).toBe(false)
})
