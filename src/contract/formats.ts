import type { Format } from 'ajv'
import { fullFormats } from 'ajv-formats/dist/formats.js'

/** The grammar of RFC 3339. */
const RFC_3339 = fullFormats['date-time'] as { validate: (text: string) => boolean }

/**
 * The formats of the standard, by name. AJV itself knows none, and in strict mode it refuses unknown ones.
 */
export const FORMATS: Readonly<Record<string, Format>> = {
  ...fullFormats,
  'date-time': { validate: isExistingTime },
}

/**
 * Requires a time that Date can represent, besides the grammar: a leap second is correct in RFC 3339, but
 * Date has none.
 */
function isExistingTime(text: string): boolean {
  return RFC_3339.validate(text) && !Number.isNaN(Date.parse(text))
}
