const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/**
 * Writes a duration in its largest whole unit: `17 min`. Less than a second, and what a wrong clock makes
 * negative, is `0 s`.
 */
export function formatDuration(ms: number): string {
  const [name, size] = UNITS.find(([, size]) => ms >= size) ?? ['s', 1_000]
  return `${Math.max(0, Math.floor(ms / size))} ${name}`
}

const TIME: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
}

/** Writes a time of the service in the time zone of the reader, which it names, with 24 hours. */
export function formatTime(timestamp: string): string {
  return new Date(timestamp).toLocaleString(undefined, TIME)
}

/** Writes it for a table, without seconds and without the time zone, which is that of the reader. */
export function formatMinute(timestamp: string): string {
  const { second: _, timeZoneName: _zone, ...minute } = TIME
  return new Date(timestamp).toLocaleString(undefined, minute)
}

/** Writes the times in a sentence of the service in the same way. */
export function withLocalTimes(sentence: string): string {
  return sentence.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, formatTime)
}
