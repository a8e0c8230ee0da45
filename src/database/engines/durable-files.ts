import { fdatasyncSync } from 'node:fs'
import { join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { createNewNames } from './new-names.ts'
import { syncPath } from './sync-files.ts'

/** A node of Emscripten's file system. */
interface FileNode {
  readonly mode: number
}

/** An open file or folder of Emscripten's NODEFS. */
interface FileStream {
  readonly nfd: number
  readonly node: FileNode
}

/** The parts of Emscripten's NODEFS that are changed here. */
interface HostFiles {
  realPath(node: FileNode): string
  /** @throws the engine's own error for an error of the host, so that the engine sees it as the result of its system call */
  tryFSOperation<T>(operation: () => T): T
  readonly node_ops: {
    mknod(parent: FileNode, name: string, mode: number, dev: number): FileNode
    rename(node: FileNode, folder: FileNode, name: string): void
    unlink(parent: FileNode, name: string): void
  }
  readonly stream_ops: { fsync?: (stream: FileStream) => number }
}

type EngineOptions = Parameters<NodeFS['init']>[1]

/**
 * The files of an embedded database in a folder of the host, with the system call fsync, which the engine's own runtime lacks. What the
 * engine has synced survives a power cut.
 */
export class DurableFiles extends NodeFS {
  override async init(pg: PGlite, options: EngineOptions): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options)
    const addSync = (module: { readonly NODEFS: unknown }) => addFileSync(module.NODEFS as HostFiles)
    const preRun = [...[emscriptenOpts.preRun ?? []].flat(), addSync] as NonNullable<EngineOptions['preRun']>
    return { emscriptenOpts: { ...emscriptenOpts, preRun } }
  }
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
