import { rm } from 'node:fs/promises'
import { openDatabase } from '../../src/database/database.ts'
import type { Database } from '../../src/database/db.ts'
import { createLogger } from '../../src/log.ts'
import { createDataDir } from '../../test/support/data-dir.ts'
import { createPostgres, type LatePostgres } from '../../test/support/postgres.ts'
import type { ServiceOptions } from '../../test/support/service.ts'

/** Where the service of histories keeps its data. `replicated`: PostgreSQL with a synchronous standby. */
export type StorageKind = 'embedded' | 'postgres' | 'replicated'

/** The database of a test bed. It outlives the processes of the service. */
export interface Storage {
  /** What leads each process of the service to it. */
  readonly service: Pick<ServiceOptions, 'dataDir' | 'databaseUrl'>
  open(): Promise<Database>
  /** Gives the server that accepts writes a standby if it has none. */
  prepare(): Promise<void>
  /**
   * Kills all processes of the server that accepts writes, and promotes its standby. Does nothing without a standby: then it has already
   * happened since `prepare`.
   */
  failOver(): Promise<void>
  stop(): Promise<void>
}

/** Starts a database of this kind. */
export function startStorage(kind: StorageKind): Promise<Storage> {
  return kind === 'embedded' ? createEmbedded() : startServer(kind === 'replicated')
}

async function createEmbedded(): Promise<Storage> {
  const dataDir = await createDataDir()
  return {
    service: { dataDir },
    open: () => openDatabase({ dataDir }, SILENT),
    prepare: () => Promise.resolve(),
    failOver: () => Promise.resolve(),
    stop: () => rm(dataDir, { recursive: true }),
  }
}

const SILENT = createLogger({ level: 'silent' })

async function startServer(isReplicated: boolean): Promise<Storage> {
  let primary = await createPostgres()
  await primary.start()
  let standby: LatePostgres | undefined
  /** The killed one. Its place is for the next standby, so that the url of the service stays. */
  let gone: LatePostgres | undefined
  const prepare = async () => {
    if (!isReplicated || standby !== undefined) return
    const port = gone && Number(new URL(gone.url).port)
    await gone?.stop()
    gone = undefined
    standby = await primary.startStandby({ synchronous: true, port })
  }
  await prepare()
  const hosts = [primary, ...(standby ? [standby] : [])].map(({ url }) => new URL(url).host)
  const url = `postgres://postgres@${hosts.join(',')}/postgres${hosts.length > 1 ? '?target_session_attrs=read-write' : ''}`
  return {
    service: { databaseUrl: url },
    open: () => openDatabase({ url, dataDir: 'memory://' }, SILENT),
    prepare,
    failOver: async () => {
      const next = standby
      if (next === undefined) return
      standby = undefined
      await primary.crash()
      await next.promote()
      gone = primary
      primary = next
    },
    stop: async () => {
      for (const server of [standby, primary, gone]) await server?.stop()
    },
  }
}
