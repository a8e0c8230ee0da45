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
  /** @throws the engine's own error for an error of the host, so that the engine sees it as the result of its system call */
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
