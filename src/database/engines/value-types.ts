import TypeOverrides from 'pg/lib/type-overrides.js'

/**
 * Conversion of PostgreSQL values to JavaScript values. By default, node-postgres returns strings for int8
 * and numeric, and a Buffer for bytea. Lists of these types may be parameters; a list column would be read as
 * node-postgres reads it, so unnest it.
 */

/** Reads the text form of one value. */
export type TypeParser = (text: string) => unknown

/** Parsers by object id of the type, from `pg_type`. node-postgres reads all other types. */
const TYPE_PARSERS: Readonly<Record<number, TypeParser>> = {
  // bytea in the `hex` output format: `\x` and two digits for each byte.
  17: (text) => Uint8Array.from(Buffer.from(text.slice(2), 'hex')),
  // int8, and so count(*).
  20: (text) => BigInt(text),
  // numeric: the schema keeps whole numbers only, and a fraction must fail loudly instead of losing digits.
  1700: (text) => BigInt(text),
}

/** The types of node-postgres, with ours where it would lose digits. Both engines read values by it. */
export const VALUE_TYPES = new TypeOverrides()
for (const [oid, parse] of Object.entries(TYPE_PARSERS)) VALUE_TYPES.setTypeParser(Number(oid), parse)

/** Finds what reads the text form of a type's values. The text of an unknown type is the value. */
export function typeParser(oid: number): TypeParser {
  return VALUE_TYPES.getTypeParser(oid, 'text')
}
