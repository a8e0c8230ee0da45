import { fdatasyncSync } from 'node:fs'
import { join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import type { Durability } from '../durability.ts'
import type { HostFiles } from './host-files.ts'
import { createNewNames } from './new-names.ts'
import { syncPath } from './sync-files.ts'
import { type LogLostError, watchLog } from './watch-log.ts'

type EngineOptions = Parameters<NodeFS['init']>[1]

/**
 * The files of an embedded database in a folder of the host. With `full` durability they have the system call fsync, which the engine's own
 * runtime lacks, so what the engine has synced survives a power cut.
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

/** Ends the process as an error that nobody catches does, because whatever supervises it has to start it again. */
function endProcess(error: LogLostError): void {
  setTimeout(() => {
    throw error
  }, LAST_ANSWERS_MS)
}

/**
 * Adds fsync. A new name of a file is an entry of its folder, and lasts only when the folder is synced, too: PostgreSQL does that for the
 * renames that it relies on, and trusts the host with new files.
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
