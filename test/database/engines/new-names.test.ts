import { expect, test } from 'vitest'
import { createNewNames } from '../../../src/database/engines/embedded/database-files.ts'

/** Records the folders that are synced, and fails as often as it is told. */
function createDisk() {
  const synced: string[] = []
  let failures = 0
  return {
    synced,
    fail: () => {
      failures += 1
    },
    syncFolder: (folder: string) => {
      if (failures > 0) {
        failures -= 1
        throw new Error('EIO')
      }
      synced.push(folder)
    },
  }
}

test('a new name is synced with its folder, once', () => {
  const disk = createDisk()
  const names = createNewNames(disk.syncFolder)
  names.add('/data/file')
  names.sync('/data/file')
  names.sync('/data/file')
  names.sync('/data/other')
  expect(disk.synced).toEqual(['/data'])
})

test('a name in a new folder is synced after the name of the folder', () => {
  const disk = createDisk()
  const names = createNewNames(disk.syncFolder)
  names.add('/data/new')
  names.add('/data/new/file')
  names.sync('/data/new/file')
  expect(disk.synced).toEqual(['/data', '/data/new'])
})

test('a name that is gone needs no sync', () => {
  const disk = createDisk()
  const names = createNewNames(disk.syncFolder)
  names.add('/data/file')
  names.remove('/data/file')
  names.sync('/data/file')
  expect(disk.synced).toEqual([])
})

test('a name whose folder could not be synced is synced the next time', () => {
  const disk = createDisk()
  const names = createNewNames(disk.syncFolder)
  names.add('/data/file')
  disk.fail()
  expect(() => names.sync('/data/file')).toThrow('EIO')
  names.sync('/data/file')
  expect(disk.synced).toEqual(['/data'])
})
