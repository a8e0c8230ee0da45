import TypeOverrides from 'pg/lib/type-overrides.js'
import { TYPE_PARSERS, type TypeParser } from '../types.ts'

/** The types of node-postgres, with ours where it would lose digits. Both engines read values by it. */
export const VALUE_TYPES = new TypeOverrides()
for (const [oid, parse] of Object.entries(TYPE_PARSERS)) VALUE_TYPES.setTypeParser(Number(oid), parse)

/** Finds what reads the text form of a type's values. The text of an unknown type is the value. */
export function typeParser(oid: number): TypeParser {
  return VALUE_TYPES.getTypeParser(oid, 'text')
}
