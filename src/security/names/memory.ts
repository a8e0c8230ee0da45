import type { NameAnswer } from './query.ts'

/** Answers are remembered for at least this time, in ms, although some zones allow none: several requests follow one another. */
const MIN_ANSWER_MS = 1_000

/** Answers are remembered for at most this time, in ms: a receiver that moves is found again within it. */
const MAX_ANSWER_MS = 60_000

/** Failures are remembered for this time, in ms: repeated deliveries to a lapsed name then cost one query, and a repaired name works soon. */
const FAILURE_MS = 5_000

/** The number of names that are remembered. Callers choose names, so it bounds the memory that they take. */
const MAX_NAMES = 1_000

interface Known {
  readonly answer: Promise<NameAnswer>
  /** Infinite while the query is under way. */
  until: number
}

interface NameMemoryOptions {
  /** Milliseconds of any monotonic clock. */
  readonly now: () => number
  readonly ask: (host: string) => Promise<NameAnswer>
}

/** Creates a function that asks for a host once: questions during a query share it, and later ones get the remembered result. */
export function createNameMemory({ now, ask }: NameMemoryOptions): (host: string) => Promise<NameAnswer> {
  const names = new Map<string, Known>()

  function start(host: string): Known {
    const known: Known = { answer: ask(host), until: Number.POSITIVE_INFINITY }
    const keep = (ms: number) => {
      known.until = now() + ms
    }
    known.answer.then(
      ({ ttlMs }) => keep(Math.min(MAX_ANSWER_MS, Math.max(MIN_ANSWER_MS, ttlMs))),
      () => keep(FAILURE_MS),
    )
    names.delete(host)
    names.set(host, known)
    if (names.size > MAX_NAMES) names.delete(names.keys().next().value ?? '')
    return known
  }

  return (host) => {
    const known = names.get(host)
    return (known !== undefined && known.until > now() ? known : start(host)).answer
  }
}
