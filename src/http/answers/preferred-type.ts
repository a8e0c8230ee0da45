interface Range {
  readonly type: string
  /** The weight from 0 to 1; 0 excludes the type. */
  readonly weight: number
}

/**
 * Returns the offered media type that an `Accept` header prefers (RFC 9110): the one with the highest weight, of equal ones the one that
 * the header names first, and the first offered one when the header names none of them. The service answers such a header, too.
 */
export function preferredType(accept: string, offered: readonly string[]): string {
  const [first = ''] = offered
  if (offered.length < 2 || accept === '') return first
  const ranges = accept.split(',').map(readRange)
  const ranked = offered
    .map((type) => ({ type, ...rankOf(type, ranges) }))
    .sort((one, other) => other.weight - one.weight || one.place - other.place)
  return ranked[0]?.type ?? first
}

/** An exact name counts before a wildcard; a wildcard has no place of its own, so it keeps the offered order behind exact names. */
function rankOf(type: string, ranges: readonly Range[]): { weight: number; place: number } {
  const exact = ranges.findIndex((range) => range.type === type)
  if (exact >= 0) return { weight: ranges[exact]?.weight ?? 0, place: exact }
  const [family] = type.split('/')
  const wildcard =
    ranges.find((range) => range.type === `${family}/*`) ?? ranges.find((range) => range.type === '*/*')
  return { weight: wildcard?.weight ?? 0, place: ranges.length }
}

function readRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((part) => part.startsWith('q='))?.slice(2)
  const value = weight === undefined ? 1 : Number(weight)
  return { type, weight: value >= 0 && value <= 1 ? value : 0 }
}
