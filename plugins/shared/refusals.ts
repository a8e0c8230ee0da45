/**
 * A line of one reason in this time, in ms. Anyone may send what is refused: more lines would push those
 * about faults out of the log.
 */
const QUIET_MS = 60_000

/** The most reasons that are counted: each is a word of the protocol, of which there are fewer. */
const MAX_REASONS = 200

/** The longest sentence in a line, in characters. It may repeat what a request contains. */
const MAX_SENTENCE = 300

interface RefusalLogOptions {
  readonly now: () => number
  readonly write: (line: string) => void
}

/**
 * Creates a log of refusals. A line is `refused REASON: sentence`, or `refused REASON (N times): sentence` if
 * there were others since the last line of the reason. The console of the service shows them by reason.
 */
export function createRefusalLog({
  now,
  write,
}: RefusalLogOptions): (reason: string, sentence: string) => void {
  const reasons = new Map<string, { since: number; count: number }>()
  return (reason, sentence) => {
    const known = reasons.get(reason)
    if (known !== undefined && now() - known.since < QUIET_MS) {
      known.count += 1
      return
    }
    if (reasons.size >= MAX_REASONS) reasons.clear()
    reasons.set(reason, { since: now(), count: 0 })
    const count = (known?.count ?? 0) + 1
    const shown = sentence.replaceAll(/\s+/g, ' ').slice(0, MAX_SENTENCE)
    write(`refused ${reason}${count === 1 ? '' : ` (${count} times)`}: ${shown}`)
  }
}
