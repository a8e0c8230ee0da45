/** A longer wish is read as this one, in ms: nothing here waits for more than a day. */
const MAX_MS = 86_400_000

/** The three forms of HTTP-date (RFC 9110, section 5.6.7). `Date.parse` alone would read much else as a date. */
const DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
]
const ASCTIME_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

/**
 * Reads the header `Retry-After` (RFC 9110, section 10.2.3): whole seconds, or an HTTP-date. Returns ms from `now`, a day at most;
 * undefined for anything else.
 */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : readDate(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(MAX_MS, Math.max(0, ms))
}

/** Ms since the epoch; NaN for no date. */
function readDate(text: string): number {
  if (ASCTIME_DATE.test(text)) return Date.parse(`${text} GMT`)
  return DATES.some((form) => form.test(text)) ? Date.parse(text) : Number.NaN
}
