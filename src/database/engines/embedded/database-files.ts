import { fdatasyncSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import type { Durability } from '../../durability.ts'
import { syncPath } from './database-folder.ts'
import { LogLostError } from './engine-messages.ts'

type EngineOptions = Parameters<NodeFS['init']>[1]

/**
 * The files of an embedded database in a folder of the host. With `full` durability they have the system call
 * fsync, which the engine's own runtime does not have, so what the engine has synced survives a power cut.
 */
export class DatabaseFiles extends NodeFS {
  readonly #durability: Durability
  #lost: LogLostError | undefined

  constructor(folder: string, durability: Durability) {
    super(folder)
    this.#durability = durability
  }

  /** The reason why the engine must not be called any more. */
  get lost(): LogLostError | undefined {
    return this.#lost
  }

  override async init(pg: PGlite, options: EngineOptions): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options)
    const change = (module: { readonly NODEFS: unknown }) => this.#change(module.NODEFS as HostFiles)
    const preRun = [...[emscriptenOpts.preRun ?? []].flat(), change] as NonNullable<EngineOptions['preRun']>
    return { emscriptenOpts: { ...emscriptenOpts, preRun } }
  }

  #change(files: HostFiles): void {
    if (this.#durability === 'full') addFileSync(files)
    watchLog(files, (error) => {
      if (this.#lost === undefined) endProcess(error)
      this.#lost ??= error
    })
  }
}

/** The requests that are under way get their answers within this time, in ms. All of them are failures. */
const LAST_ANSWERS_MS = 500

/** Ends the process like an uncaught error, so that its supervisor restarts it. */
function endProcess(error: LogLostError): void {
  setTimeout(() => {
    throw error
  }, LAST_ANSWERS_MS)
}

/**
 * Adds fsync. A new name of a file is an entry of its folder, and is durable only when the folder is synced
 * as well: PostgreSQL does that for the renames that it relies on, and trusts the host with new files.
 */
function addFileSync(files: HostFiles): void {
  const names = createNewNames(syncPath)
  const { mknod, rename, unlink } = files.node_ops
  Object.assign(files.node_ops, {
    mknod: (...[parent, name, mode, dev]: Parameters<typeof mknod>) => {
      const node = mknod(parent, name, mode, dev)
      names.add(files.realPath(node))
      return node
    },
    rename: (...[node, folder, name]: Parameters<typeof rename>) => {
      names.remove(files.realPath(node))
      rename(node, folder, name)
      names.add(join(files.realPath(folder), name))
    },
    unlink: (...[parent, name]: Parameters<typeof unlink>) => {
      unlink(parent, name)
      names.remove(join(files.realPath(parent), name))
    },
  })
  files.stream_ops.fsync = ({ nfd, node }) =>
    files.tryFSOperation(() => {
      fdatasyncSync(nfd)
      names.sync(files.realPath(node))
      return 0
    })
}

/** The folder of the write-ahead log, in the paths of its files. */
const LOG_FOLDER = `${sep}pg_wal${sep}`

/**
 * Calls `onLost` when a file of the log cannot be made, written or renamed, or any file cannot be synced.
 * PostgreSQL ends its process then. The engine cannot: it reports the error, and at the next commit waits for
 * ever for a lock that it holds itself.
 */
function watchLog(files: HostFiles, onLost: (error: LogLostError) => void): void {
  const { mknod, rename } = files.node_ops
  const { write, fsync } = files.stream_ops
  const watched = <T>(isWatched: () => boolean, operation: () => T): T => {
    try {
      return operation()
    } catch (error) {
      if (isWatched()) onLost(new LogLostError(error))
      throw error
    }
  }
  const isOfLog = (path: string) => path.includes(LOG_FOLDER)
  Object.assign(files.node_ops, {
    mknod: (...args: Parameters<typeof mknod>) =>
      watched(
        () => isOfLog(join(files.realPath(args[0]), args[1])),
        () => mknod(...args),
      ),
    rename: (...args: Parameters<typeof rename>) =>
      watched(
        () => isOfLog(join(files.realPath(args[1]), args[2])),
        () => rename(...args),
      ),
  })
  files.stream_ops.write = (...args) =>
    watched(
      () => isOfLog(files.realPath(args[0].node)),
      () => write(...args),
    )
  if (fsync !== undefined)
    files.stream_ops.fsync = (stream) =>
      watched(
        () => true,
        () => fsync(stream),
      )
}

/**
 * The names of files and folders that may not survive a power cut yet, because a name is an entry of its
 * folder.
 */
export interface NewNames {
  add(path: string): void
  remove(path: string): void
  /** Makes the name and those of new folders above it last. */
  sync(path: string): void
}

/** Creates an empty set. `syncFolder` writes the entries of one folder to the disk. */
export function createNewNames(syncFolder: (folder: string) => void): NewNames {
  const unsynced = new Set<string>()
  const sync = (path: string): void => {
    if (!unsynced.has(path)) return
    const folder = dirname(path)
    sync(folder)
    syncFolder(folder)
    // Only now: after a disk has failed once, the next sync of the file must try again.
    unsynced.delete(path)
  }
  return { add: (path) => void unsynced.add(path), remove: (path) => void unsynced.delete(path), sync }
}

/** A node of Emscripten's file system. */
export interface FileNode {
  readonly mode: number
}

/** An open file or folder of Emscripten's NODEFS. */
export interface FileStream {
  readonly nfd: number
  readonly node: FileNode
}

/** The parts of Emscripten's NODEFS that are changed for the embedded database. */
export interface HostFiles {
  realPath(node: FileNode): string
  /**
   * @throws the engine's own error for an error of the host, so that the engine sees it as the result of its
   * system call
   */
  tryFSOperation<T>(operation: () => T): T
  readonly node_ops: {
    mknod(parent: FileNode, name: string, mode: number, dev: number): FileNode
    rename(node: FileNode, folder: FileNode, name: string): void
    unlink(parent: FileNode, name: string): void
  }
  readonly stream_ops: {
    write(stream: FileStream, buffer: Uint8Array, offset: number, length: number, position: number): number
    fsync?: (stream: FileStream) => number
  }
}
