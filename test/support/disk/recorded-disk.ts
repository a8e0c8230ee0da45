import { createRequire, syncBuiltinESMExports } from 'node:module'
import { basename, dirname, relative, sep } from 'node:path'

/** One change of a file. */
export type FileOperation =
  | { readonly kind: 'write'; readonly at: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly at: number; readonly size: number }
  | { readonly kind: 'sync'; readonly at: number }

/** A file, whatever its names are. */
export interface RecordedFile {
  readonly kind: 'file'
  /** In the order of their time. */
  readonly operations: FileOperation[]
}

/** One change of a folder. Entries that are undefined are gone after it. */
export type FolderOperation =
  | {
      readonly kind: 'entries'
      readonly at: number
      readonly entries: ReadonlyMap<string, RecordedNode | undefined>
    }
  | { readonly kind: 'sync'; readonly at: number }

/** A folder, whatever its names are. */
export interface RecordedFolder {
  readonly kind: 'folder'
  /** In the order of their time. */
  readonly operations: FolderOperation[]
  /** The entries after the newest operation. */
  readonly present: Map<string, RecordedNode>
}

export type RecordedNode = RecordedFile | RecordedFolder

/** Everything that a process did to the files of a folder, in the order of the time `at`, which counts the operations. */
export interface DiskRecord {
  readonly root: RecordedFolder
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
  'mkdirSync',
  'rmdirSync',
  'writeSync',
  'writeFileSync',
  'truncateSync',
  'ftruncateSync',
  'renameSync',
  'unlinkSync',
  'rmSync',
  'fsyncSync',
  'fdatasyncSync',
] as const

/**
 * Records what this process does below the empty folder `path` with the synchronous functions of node:fs, which the embedded database
 * uses. Files that are made with other functions are not in the record.
 */
export function recordDisk(path: string): DiskRecord {
  const original = Object.fromEntries(NAMES.map((name) => [name, fs[name]])) as Pick<
    Files,
    (typeof NAMES)[number]
  >
  const root: RecordedFolder = { kind: 'folder', operations: [], present: new Map() }
  const opened = new Map<number, RecordedNode>()
  let time = 0

  const isInside = (one: unknown): one is string =>
    typeof one === 'string' && (one === path || one.startsWith(path + sep))
  const nodeAt = (one: string): RecordedNode | undefined =>
    relative(path, one)
      .split(sep)
      .filter((name) => name !== '')
      .reduce<RecordedNode | undefined>(
        (node, name) => (node?.kind === 'folder' ? node.present.get(name) : undefined),
        root,
      )
  const folderOf = (one: string): RecordedFolder => {
    const folder = nodeAt(dirname(one))
    if (folder?.kind !== 'folder') throw new Error(`the record has no folder for ${one}`)
    return folder
  }
  const changeEntries = (folder: RecordedFolder, entries: ReadonlyMap<string, RecordedNode | undefined>) => {
    time += 1
    folder.operations.push({ kind: 'entries', at: time, entries })
    for (const [name, node] of entries)
      if (node === undefined) folder.present.delete(name)
      else folder.present.set(name, node)
  }
  const add = (one: string, node: RecordedNode) => {
    changeEntries(folderOf(one), new Map([[basename(one), node]]))
    return node
  }
  const remove = (one: unknown) => {
    if (isInside(one) && nodeAt(one) !== undefined)
      changeEntries(folderOf(one), new Map([[basename(one), undefined]]))
  }
  const newFile = (): RecordedFile => ({ kind: 'file', operations: [] })
  const change = (node: RecordedNode | undefined, operation: (at: number) => FileOperation) => {
    if (node?.kind !== 'file') return
    time += 1
    node.operations.push(operation(time))
  }
  const sync = (descriptor: number) => {
    const node = opened.get(descriptor)
    if (node === undefined) return
    time += 1
    node.operations.push({ kind: 'sync', at: time })
  }

  const recorded: Partial<Files> = {
    openSync: (...args) => {
      const [one] = args
      const descriptor = original.openSync(...args)
      if (!isInside(one)) return descriptor
      const known = nodeAt(one)
      const isNew = known === undefined && (args[1] === 'w' || args[1] === 'wx')
      const node = isNew ? add(one, newFile()) : known
      if (node !== undefined) opened.set(descriptor, node)
      if (args[1] === 'w') change(node, (at) => ({ kind: 'truncate', at, size: 0 }))
      return descriptor
    },
    closeSync: (descriptor) => {
      opened.delete(descriptor)
      original.closeSync(descriptor)
    },
    writeFileSync: (...args) => {
      const [one, data] = args
      original.writeFileSync(...args)
      if (!isInside(one)) return
      const node = nodeAt(one) ?? add(one, newFile())
      change(node, (at) => ({ kind: 'truncate', at, size: 0 }))
      const bytes = Buffer.from(data as string | Uint8Array as string)
      if (bytes.length > 0) change(node, (at) => ({ kind: 'write', at, offset: 0, bytes }))
    },
    truncateSync: (one, size = 0) => {
      original.truncateSync(one, size)
      if (isInside(one)) change(nodeAt(one), (at) => ({ kind: 'truncate', at, size: size ?? 0 }))
    },
    ftruncateSync: (descriptor, size = 0) => {
      original.ftruncateSync(descriptor, size)
      change(opened.get(descriptor), (at) => ({ kind: 'truncate', at, size: size ?? 0 }))
    },
    renameSync: (from, to) => {
      original.renameSync(from, to)
      const node = isInside(from) ? nodeAt(from) : undefined
      if (node === undefined || !isInside(from) || !isInside(to)) return
      if (dirname(from) !== dirname(to)) throw new Error('a rename between folders is not modelled')
      changeEntries(
        folderOf(to),
        new Map([
          [basename(from), undefined],
          [basename(to), node],
        ]),
      )
    },
    unlinkSync: (one) => {
      original.unlinkSync(one)
      remove(one)
    },
    rmdirSync: (one) => {
      original.rmdirSync(one)
      remove(one)
    },
    rmSync: (one, options) => {
      original.rmSync(one, options)
      remove(one)
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
  const mkdirSync = (one: string, options?: { recursive?: boolean }) => {
    const made = original.mkdirSync(one, options)
    if (!isInside(one) || nodeAt(one) !== undefined) return made
    const missing = [one]
    while (nodeAt(dirname(missing[0] as string)) === undefined) missing.unshift(dirname(missing[0] as string))
    for (const folder of missing) add(folder, { kind: 'folder', operations: [], present: new Map() })
    return made
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
    change(opened.get(descriptor), (at) => ({ kind: 'write', at, offset: position, bytes: bytes() }))
    return written
  }
  Object.assign(fs, { ...recorded, mkdirSync, writeSync })
  syncBuiltinESMExports()
  return {
    root,
    now: () => time,
    stop: () => {
      Object.assign(fs, original)
      syncBuiltinESMExports()
    },
  }
}
