import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Package, packClone } from './install-package.ts'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** The hash of each file of a package, so that a difference is named. */
function hashesOf({ file, packed }: Package): Record<string, string> {
  const folder = dirname(file)
  execFileSync('tar', ['--extract', '--gzip', '--file', file, '--directory', folder])
  return Object.fromEntries(
    packed.map((path) => [path, sha256(readFileSync(join(folder, 'package', path)))] as const),
  )
}

test('two builds of the same sources, in folders of different names and at different times, are the same package', async () => {
  const roots = ['relayer-one-', 'relayer-another-'].map((name) => mkdtempSync(join(tmpdir(), name)))
  onTestFinished(() => {
    for (const root of roots) rmSync(root, { recursive: true })
  })
  const [one, other] = await Promise.all(roots.map(packClone))
  if (one === undefined || other === undefined) throw new Error('nothing was packed')
  expect(hashesOf(one)).toEqual(hashesOf(other))
  expect(sha256(readFileSync(one.file))).toBe(sha256(readFileSync(other.file)))
})
