/**
 * How PostgreSQL's values become JavaScript values, the same for both drivers. Left alone, node-postgres gives strings
 * for int8 and numeric where PGlite gives numbers, and a Buffer for bytea where PGlite gives a Uint8Array. Lists of
 * these types may be parameters; a column of them would be read differently, so unnest it.
 */

/** Reads the text form of one value. */
export type TypeParser = (text: string) => unknown

/** By object id of the type, from `pg_type`. Those not listed are read alike by both drivers. */
export const TYPE_PARSERS: Readonly<Record<number, TypeParser>> = {
  // bytea, always in the `hex` output format: `\x` and two digits for each byte.
  17: (text) => Uint8Array.from(Buffer.from(text.slice(2), 'hex')),
  // int8, and with it count(*).
  20: (text) => BigInt(text),
  // numeric: the schema keeps whole numbers only, and a fraction must fail loudly instead of losing digits.
  1700: (text) => BigInt(text),
}
