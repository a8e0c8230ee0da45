/** Writes to an embedded database until its log cannot grow. Tells its parent each row that is stored and each error. */
import { sql } from 'kysely'
import { openPGlite } from '../../src/database/engines/embedded/pglite.ts'

const [dataDir = ''] = process.argv.slice(2)
const { db } = await openPGlite({ dataDir, durability: 'full' })
// The pages of the table have room for the updates, so that the log alone grows.
await sql`create table log (id int primary key, text text) with (fillfactor = 50)`.execute(db)
await sql`insert into log select id, repeat('x', 500) from generate_series(1, 1000) as id`.execute(db)
await sql`checkpoint`.execute(db)
process.send?.({ kind: 'ready' })
process.once('message', async () => {
  for (let number = 1; ; number += 1) {
    try {
      await sql`update log set text = repeat(${`${number} `}, 100)`.execute(db)
      process.send?.({ kind: 'stored', number })
    } catch (error) {
      process.send?.({ kind: 'failed', name: (error as Error).name, message: (error as Error).message })
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
})
