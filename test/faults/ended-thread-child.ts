/** Ends the thread of an embedded database while a statement runs, and tells its parent what the caller of the statement sees. */
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { openPGlite } from '../../src/database/engines/embedded/pglite.ts'
import { startEngineThread } from '../../src/database/engines/embedded/start-engine.ts'

const [dataDir = ''] = process.argv.slice(2)
const started = startEngineThread()
const { db } = await openPGlite({ dataDir, durability: 'full', startEngine: () => started })
const running = sql`select pg_sleep(60)`.execute(db)
if (started.port instanceof Worker) await started.port.terminate()
await running.catch((error: Error) => process.send?.({ message: error.message }))
