/** `Retry-After` of RFC 9110, section 10.2.3: seconds, or a date. In ms from `now`; undefined for anything else. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1_000)
  // A date begins with the name of a day; `Date.parse` alone would read much else as one.
  const date = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
