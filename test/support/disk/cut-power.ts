import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Random } from '../../faults/random.ts'
import type { DiskRecord, NameOperation, RecordedFile } from './recorded-disk.ts'

/** A disk writes its sectors whole, and a cut ends a longer write at any of them. */
const SECTOR_BYTES = 512

interface Cut {
  /** The folder as it was when the record began, all of it synced. */
  readonly before: string
  /** The folder of the record. */
  readonly root: string
  readonly record: DiskRecord
  /** Nothing later than this has happened. */
  readonly at: number
  readonly random: Random
  /** The folder to make. */
  readonly target: string
}

/**
 * Makes a folder as a disk may leave it when the power fails: what was synced is there. Of the rest, each sector of a file may be there or
 * not, and of the changes of a folder's entries the first ones may be there.
 */
export function cutPower(cut: Cut): void {
  const { before, root, record, target, random } = cut
  rmSync(target, { recursive: true, force: true })
  cpSync(before, target, { recursive: true })
  const place = (path: string) => path.replace(root, target)
  const contents = new Map([...record.files].map((file) => [file, contentOf(file, cut)]))
  const names = lastingNames(cut, random)
  for (const [file, content] of contents)
    if (file.origin !== undefined && file.operations.length > 0) writeFileSync(place(file.origin), content)
  for (const { entries } of names)
    for (const [path, file] of entries)
      if (file === undefined) rmSync(place(path), { force: true })
      else writeFileSync(place(path), contents.get(file) ?? '')
}

function lastingNames({ record, at }: Cut, random: Random): NameOperation[] {
  const byFolder = Map.groupBy(
    record.names.filter((operation) => operation.at <= at),
    ({ folder }) => folder,
  )
  return [...byFolder]
    .flatMap(([folder, operations]) => {
      const synced = (record.folderSyncs.get(folder) ?? []).findLast((time) => time <= at) ?? 0
      const certain = operations.filter((operation) => operation.at <= synced).length
      return operations.slice(0, random.int(certain, operations.length))
    })
    .sort((one, other) => one.at - other.at)
}

function contentOf({ origin, operations }: RecordedFile, { before, root, at, random }: Cut): Buffer {
  const past = operations.filter((operation) => operation.at <= at)
  const synced = past.findLastIndex(({ kind }) => kind === 'sync')
  const source = origin?.replace(root, before)
  let content: Buffer = source !== undefined && existsSync(source) ? readFileSync(source) : Buffer.alloc(0)
  for (const [index, operation] of past.entries()) {
    const isCertain = index <= synced
    if (operation.kind === 'truncate' && (isCertain || random.chance(0.5)))
      content = resized(content, operation.size)
    if (operation.kind === 'write') {
      const pieces = isCertain ? [operation] : sectorsOf(operation).filter(() => random.chance(0.5))
      for (const { offset, bytes } of pieces) {
        if (offset + bytes.length > content.length) content = resized(content, offset + bytes.length)
        bytes.copy(content, offset)
      }
    }
  }
  return content
}

interface Piece {
  readonly offset: number
  readonly bytes: Buffer
}

/** Cuts a write at the borders of the disk's sectors. */
function sectorsOf({ offset, bytes }: Piece): Piece[] {
  const pieces: Piece[] = []
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + SECTOR_BYTES - ((offset + from) % SECTOR_BYTES))
    pieces.push({ offset: offset + from, bytes: bytes.subarray(from, to) })
    from = to
  }
  return pieces
}

function resized(content: Buffer, size: number): Buffer {
  if (size <= content.length) return Buffer.from(content.subarray(0, size))
  return Buffer.concat([content, Buffer.alloc(size - content.length)])
}
