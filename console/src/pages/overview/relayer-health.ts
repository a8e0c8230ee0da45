import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { formatDuration } from '../../format/times.ts'
import type { Tone } from '../../parts/tone.ts'

/** The health of a relayer in a word, with the reason. */
export interface RelayerHealth {
  readonly word: 'healthy' | 'slow' | 'unknown' | 'paused' | 'disabled' | '…'
  readonly tone: Tone
  /** Absent if the word says everything. */
  readonly why?: string
}

/** Returns how many transactions are on their way or wait for their turn; undefined while it is not known. */
export function queueOf(status: Schemas['RelayerStatus'] | undefined): number | undefined {
  if (status === undefined) return undefined
  return status.pending_transactions_count - (status.deferred_transactions_count ?? 0)
}

/** A transaction that waits for longer than this, in ms, is slow: the service announces it as stuck at the same age. */
const SLOW_MS = 15 * 60_000

/** Judges a relayer by its record and its status; without the status it is not known yet. */
export function healthOf(
  relayer: Pick<Schemas['Relayer'], 'paused' | 'system_disabled' | 'disabled_reason'>,
  status: Schemas['RelayerStatus'] | undefined,
  now: number,
): RelayerHealth {
  if (relayer.system_disabled)
    return {
      word: 'disabled',
      tone: 'bad',
      ...(relayer.disabled_reason && { why: relayer.disabled_reason.details }),
    }
  if (relayer.paused) return { word: 'paused', tone: 'idle', why: 'It accepts no new transactions.' }
  if (status === undefined) return { word: '…', tone: 'idle' }
  if (status.balance === undefined)
    return { word: 'unknown', tone: 'warn', why: 'No endpoint of its network responds.' }
  const { oldest_pending_transaction_timestamp: oldest } = status
  const age = oldest === undefined ? 0 : now - Date.parse(oldest)
  if (age > SLOW_MS)
    return { word: 'slow', tone: 'warn', why: `A transaction has been waiting for ${formatDuration(age)}.` }
  return { word: 'healthy', tone: 'good' }
}
