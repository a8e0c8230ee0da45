import { DiagLogLevel, diag } from '@opentelemetry/api'
import { type Logger, maskUrls } from '../log.ts'

/** Time in ms in which the log tells a failure once: a collector that is down fails every few seconds. */
const QUIET_MS = 60_000

const MAX_LENGTH = 300

/**
 * Writes failed exports and dropped items to the log. The library has one place for them in a process. Returns a function that ends it.
 */
export function reportFailures(log: Logger): () => void {
  const toldAt = new Map<string, number>()
  const tell = (...texts: unknown[]) => {
    const detail = maskUrls(texts.map(String).join(' ')).slice(0, MAX_LENGTH)
    const kind = detail.replaceAll(/[0-9]+/g, '')
    const now = performance.now()
    if (now - (toldAt.get(kind) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return
    toldAt.set(kind, now)
    log.warn({ detail }, 'telemetry not exported; the service works without it')
  }
  const quiet = () => {}
  diag.setLogger(
    { error: tell, warn: tell, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  return () => diag.disable()
}
