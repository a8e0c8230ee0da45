import { suggest } from '../lib/suggest.ts'

/** Shorter words are the beginning of too many names by accident. */
const SHORTEST_BEGINNING = 3

/**
 * Returns ` (did you mean "x"?)` for a field that the contract does not have: the same name in another notation (`gasLimit`), with
 * typing errors (`vlaue`), or only its beginning (`gas`). Returns an empty text when no known name resembles it.
 */
export function suggestField(field: string, known: readonly string[]): string {
  const word = plain(field)
  const same = known.find((name) => plain(name) === word)
  if (same !== undefined) return ` (did you mean "${same}"?)`
  const near = suggest(field, known)
  if (near !== '' || word.length < SHORTEST_BEGINNING) return near
  const longer = known.filter((name) => plain(name).startsWith(word)).map((name) => `"${name}"`)
  return longer.length === 0 ? '' : ` (did you mean ${OR.format(longer)}?)`
}

const OR = new Intl.ListFormat('en', { type: 'disjunction' })

/** Writes `maxFeePerGas` and `max_fee_per_gas` alike. */
function plain(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}
