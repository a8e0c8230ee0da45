import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** The tables as the migrations make them; `npm run check` compares the file with a database. */
const SCHEMA: Readonly<Record<string, { readonly columns: object }>> = JSON.parse(
  read('generated/schema.json'),
)

/** The source of the row types, by name. */
const ROW_TYPES = new Map(
  readdirSync(join(ROOT, 'src/database/tables')).flatMap((file) =>
    [...read(`src/database/tables/${file}`).matchAll(/^export interface (\w+) \{\n(.*?)^\}/gms)].map(
      ([, name = '', body = '']) => [name, body] as const,
    ),
  ),
)

const TABLES = [...read('src/database/db.ts').matchAll(/^ {2}(\w+): (\w+Table)$/gm)].map(
  ([, table = '', type = '']) => ({ table, type }),
)

test('every table has a row type', () => {
  const made = Object.keys(SCHEMA).filter((table) => !table.startsWith('schema_migrations'))
  expect(TABLES.map(({ table }) => table).sort()).toEqual(made.sort())
})

test.each(TABLES)('the row type $type has the columns of $table', ({ table, type }) => {
  const fields = [...(ROW_TYPES.get(type) ?? '').matchAll(/^ {2}(\w+): /gm)].map(([, name]) => name)
  expect(fields.sort()).toEqual(Object.keys(SCHEMA[table]?.columns ?? {}).sort())
})
