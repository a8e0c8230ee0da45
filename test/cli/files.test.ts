import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { writeNew } from '../../src/cli/files.ts'
import { cutPower } from '../support/disk/cut-power.ts'
import { recordDisk } from '../support/disk/recorded-disk.ts'
import { createRandom } from '../support/random.ts'

test('a new key file in new folders survives a power cut', async () => {
  const [folder, target] = ['disk', 'after-the-cut'].map((name) =>
    mkdtempSync(join(tmpdir(), `relayer-${name}-`)),
  )
  if (folder === undefined || target === undefined) throw new Error('there is no folder')
  const record = recordDisk(folder)
  onTestFinished(() => {
    record.stop()
    for (const one of [folder, target]) rmSync(one, { recursive: true, force: true })
  })
  const text = 'k'.repeat(2_000)
  await writeNew(join(folder, 'config', 'keys', 'storage.key'), text)
  for (let seed = 1; seed <= 20; seed += 1) {
    cutPower({ record, at: record.now(), random: createRandom(seed), target })
    expect(readFileSync(join(target, 'config', 'keys', 'storage.key'), 'utf8')).toBe(text)
  }
})
