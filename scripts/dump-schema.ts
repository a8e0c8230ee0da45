/**
 * Writes generated/schema.json: the tables, columns and indexes that the migrations make, for people who review a
 * migration. `--check` compares instead, and fails on any difference.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { openDatabase } from '../src/database/database.ts'
import { migrate } from '../src/database/migrate.ts'
import { createLogger } from '../src/log.ts'

const FILE = new URL('../generated/schema.json', import.meta.url)

interface ColumnRow {
  readonly table_name: string
  readonly column_name: string
  readonly type: string
}
interface DefinitionRow {
  readonly table_name: string
  readonly definition: string
}

async function readSchema(): Promise<string> {
  const database = await openDatabase({ dataDir: 'memory://' }, createLogger({ level: 'silent' }))
  try {
    await migrate(database)
    const columns = await sql<ColumnRow>`
      select c.relname as table_name, a.attname as column_name,
        concat_ws(' ', format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end,
          case a.attidentity when 'a' then 'generated always as identity' end,
          'default ' || pg_get_expr(d.adbin, d.adrelid)) as type
      from pg_class c join pg_attribute a on a.attrelid = c.oid left join pg_attrdef d on (d.adrelid, d.adnum) = (c.oid, a.attnum)
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and a.attnum > 0 and not a.attisdropped
      order by c.relname, a.attnum`.execute(database.db)
    const definitions = await sql<DefinitionRow>`
      select tablename as table_name, indexdef as definition from pg_indexes where schemaname = 'public'
      union all
      select conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid) from pg_constraint
      where contype = 'f' and connamespace = 'public'::regnamespace
      order by 1, 2`.execute(database.db)
    return print(columns.rows, definitions.rows)
  } finally {
    await database.close()
  }
}

function print(columns: readonly ColumnRow[], definitions: readonly DefinitionRow[]): string {
  const tables = [...Map.groupBy(columns, (row) => row.table_name)].map(([table, rows]) => [
    table,
    {
      columns: Object.fromEntries(rows.map((row) => [row.column_name, row.type])),
      indexes: definitions.filter((row) => row.table_name === table).map((row) => row.definition),
    },
  ])
  return `${JSON.stringify(Object.fromEntries(tables), null, 2)}\n`
}

const schema = await readSchema()
if (!process.argv.includes('--check')) {
  await writeFile(FILE, schema)
} else if ((await readFile(FILE, 'utf8').catch(() => '')) !== schema) {
  console.error('generated/schema.json is not what the migrations make. Run: node scripts/dump-schema.ts')
  process.exitCode = 1
}
