import { defineConfig } from 'vitest/config'
import { canMountImages } from './test/support/disk/fragile-disk.ts'
import { canMountDisks } from './test/support/disk/small-disk.ts'
import { canLimitMemory } from './test/support/memory-group.ts'
import { hasPostgres } from './test/support/postgres.ts'
import { SERVICES_RUN } from './vitest.shared.ts'

const withDisks = canMountDisks()
if (!withDisks)
  process.stdout.write('No right to mount a disk here: without test/faults/full-disk.test.ts.\n')
const withImages = canMountImages()
if (!withImages)
  process.stdout.write(
    'No right to mount an image of ext4 here, or no mkfs.ext4: without test/faults/read-only-disk.test.ts.\n',
  )
const withGroups = canLimitMemory()
if (!withGroups)
  process.stdout.write('No right to limit memory here: without test/faults/memory-limit.test.ts.\n')

/**
 * The crash points, killed processes, power cuts, random histories and ten thousand deliveries take long, so they are not part of
 * `npm test`. CI runs `npm run test:faults`.
 */
export default defineConfig({
  test: {
    ...SERVICES_RUN,
    include: ['test/faults/**/*.test.ts'],
    exclude: [
      ...(hasPostgres() ? [] : ['test/faults/deliveries.test.ts']),
      ...(withGroups ? [] : ['test/faults/memory-limit.test.ts']),
      ...(withDisks ? [] : ['test/faults/full-disk.test.ts']),
      ...(withImages ? [] : ['test/faults/read-only-disk.test.ts']),
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
