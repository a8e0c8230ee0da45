import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../random.ts'
import type { DiskRecord, RecordedFile, RecordedFolder, RecordedNode } from './recorded-disk.ts'

/** A disk writes its sectors whole, and a cut ends a longer write at any of them. */
const SECTOR_BYTES = 512

interface Cut {
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
export function cutPower({ record, target, ...moment }: Cut): void {
  rmSync(target, { recursive: true, force: true })
  writeFolder(record.root, target, moment)
}

type Moment = Pick<Cut, 'at' | 'random'>

function writeFolder(folder: RecordedFolder, path: string, moment: Moment): void {
  mkdirSync(path, { recursive: true })
  for (const [name, node] of lastingEntries(folder, moment)) {
    const place = join(path, name)
    if (node.kind === 'folder') writeFolder(node, place, moment)
    else writeFileSync(place, contentOf(node, moment))
  }
}

function lastingEntries({ operations }: RecordedFolder, { at, random }: Moment): Map<string, RecordedNode> {
  const past = operations.filter((operation) => operation.at <= at)
  const certain = past.findLastIndex(({ kind }) => kind === 'sync') + 1
  const entries = new Map<string, RecordedNode>()
  for (const operation of past.slice(0, random.int(certain, past.length))) {
    if (operation.kind === 'sync') continue
    for (const [name, node] of operation.entries)
      if (node === undefined) entries.delete(name)
      else entries.set(name, node)
  }
  return entries
}

function contentOf({ operations }: RecordedFile, { at, random }: Moment): Buffer {
  const past = operations.filter((operation) => operation.at <= at)
  const synced = past.findLastIndex(({ kind }) => kind === 'sync')
  let content: Buffer = Buffer.alloc(0)
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
