import { join, sep } from 'node:path'
import type { HostFiles } from './host-files.ts'

/** The folder of the write-ahead log, in the paths of its files. */
const LOG_FOLDER = `${sep}pg_wal${sep}`

/** The engine cannot write its log any more, because the disk is full, read-only or broken. Only a new process can open the database. */
export class LogLostError extends Error {
  override readonly name = 'LogLostError'

  constructor(cause: unknown) {
    super('The embedded database cannot write its log. The service has to be started again.', { cause })
  }
}

/**
 * Calls `onLost` when a file of the log cannot be made, written or renamed, or any file cannot be synced. PostgreSQL ends its process then.
 * The engine cannot: it reports the error, and at the next commit waits for ever for a lock that it holds itself.
 */
export function watchLog(files: HostFiles, onLost: (error: LogLostError) => void): void {
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
