/** The formats of integers that do not fit into a JavaScript number. */
export const WIDE_INTEGERS: ReadonlySet<unknown> = new Set(['u256', 'u128', 'int64', 'uint64', 'sint64'])
