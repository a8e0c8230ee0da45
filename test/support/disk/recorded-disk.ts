import { createRequire, syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'

/** One change of a file. */
type FileOperation =
  | { readonly kind: 'write'; readonly at: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly at: number; readonly size: number }
  | { readonly kind: 'sync'; readonly at: number }

/** A file, whatever its names are. */
export interface RecordedFile {
  /** The path in the folder that it has from before the record. Without one it was empty when it was made. */
  readonly origin?: string
  /** In the order of their time. */
  readonly operations: FileOperation[]
}

/** One change of a folder's entries. */
export interface NameOperation {
  readonly at: number
  readonly folder: string
  /** The entries after the change; undefined: the name is gone. */
  readonly entries: ReadonlyMap<string, RecordedFile | undefined>
}

/** Everything that a process did to the files of a folder, in the order of the time `at`, which counts the operations. */
export interface DiskRecord {
  readonly files: ReadonlySet<RecordedFile>
  readonly names: readonly NameOperation[]
  /** The times at which a folder was synced. */
  readonly folderSyncs: ReadonlyMap<string, readonly number[]>
  /** The time of the newest operation. */
  now(): number
  /** Ends the record. */
  stop(): void
}

type Files = typeof import('node:fs')

const fs: Files = createRequire(import.meta.url)('node:fs')

const NAMES = [
  'openSync',
  'closeSync',
  'writeSync',
  'writeFileSync',
  'truncateSync',
  'ftruncateSync',
  'renameSync',
  'unlinkSync',
  'fsyncSync',
  'fdatasyncSync',
] as const

/** Records what this process does below `root` with the synchronous functions of node:fs, which the embedded database uses. */
export function recordDisk(root: string): DiskRecord {
  const original = Object.fromEntries(NAMES.map((name) => [name, fs[name]])) as Pick<
    Files,
    (typeof NAMES)[number]
  >
  const files = new Set<RecordedFile>()
  const present = new Map<string, RecordedFile>()
  const opened = new Map<number, string | RecordedFile>()
  const names: NameOperation[] = []
  const folderSyncs = new Map<string, number[]>()
  let time = 0

  const isInside = (path: unknown): path is string => typeof path === 'string' && path.startsWith(root)
  const fileAt = (path: string): RecordedFile => {
    const known = present.get(path)
    if (known !== undefined) return known
    return add(path, { origin: path, operations: [] })
  }
  const add = (path: string, file: RecordedFile): RecordedFile => {
    files.add(file)
    present.set(path, file)
    return file
  }
  const nameChange = (folder: string, entries: ReadonlyMap<string, RecordedFile | undefined>) => {
    time += 1
    names.push({ at: time, folder, entries })
  }
  const change = (descriptor: number, operation: (at: number) => FileOperation) => {
    const file = opened.get(descriptor)
    if (typeof file !== 'object') return
    time += 1
    file.operations.push(operation(time))
  }
  const sync = (descriptor: number) => {
    const target = opened.get(descriptor)
    change(descriptor, (at) => ({ kind: 'sync', at }))
    if (typeof target !== 'string') return
    time += 1
    folderSyncs.set(target, [...(folderSyncs.get(target) ?? []), time])
  }

  const recorded: Partial<Files> = {
    openSync: (...args) => {
      const descriptor = original.openSync(...args)
      const [path] = args
      if (isInside(path)) opened.set(descriptor, fs.fstatSync(descriptor).isDirectory() ? path : fileAt(path))
      return descriptor
    },
    closeSync: (descriptor) => {
      opened.delete(descriptor)
      original.closeSync(descriptor)
    },
    writeFileSync: (...args) => {
      const [path] = args
      original.writeFileSync(...args)
      if (!isInside(path)) return
      const file = add(path, { operations: [] })
      nameChange(dirname(path), new Map([[path, file]]))
    },
    truncateSync: (path, size = 0) => {
      original.truncateSync(path, size)
      if (!isInside(path)) return
      time += 1
      fileAt(path).operations.push({ kind: 'truncate', at: time, size: size ?? 0 })
    },
    ftruncateSync: (descriptor, size = 0) => {
      original.ftruncateSync(descriptor, size)
      change(descriptor, (at) => ({ kind: 'truncate', at, size: size ?? 0 }))
    },
    renameSync: (from, to) => {
      const file = isInside(from) ? fileAt(from) : undefined
      original.renameSync(from, to)
      if (file === undefined || !isInside(to) || !isInside(from)) return
      present.delete(from)
      present.set(to, file)
      if (dirname(from) !== dirname(to)) throw new Error('a rename between folders is not modelled')
      nameChange(
        dirname(to),
        new Map([
          [from, undefined],
          [to, file],
        ]),
      )
    },
    unlinkSync: (path) => {
      original.unlinkSync(path)
      if (!isInside(path)) return
      present.delete(path)
      nameChange(dirname(path), new Map([[path, undefined]]))
    },
    fsyncSync: (descriptor) => {
      original.fsyncSync(descriptor)
      sync(descriptor)
    },
    fdatasyncSync: (descriptor) => {
      original.fdatasyncSync(descriptor)
      sync(descriptor)
    },
  }
  const writeSync = (
    descriptor: number,
    data: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ) => {
    const written = original.writeSync(descriptor, data, offset, length, position)
    const bytes = () => Buffer.from(data.subarray(offset, offset + written))
    change(descriptor, (at) => ({ kind: 'write', at, offset: position, bytes: bytes() }))
    return written
  }
  Object.assign(fs, { ...recorded, writeSync })
  syncBuiltinESMExports()
  return {
    files,
    names,
    folderSyncs,
    now: () => time,
    stop: () => {
      Object.assign(fs, original)
      syncBuiltinESMExports()
    },
  }
}
