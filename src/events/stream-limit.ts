import { AppError } from '../errors.ts'

/** The seconds after which a refused reader may try again. */
const RETRY_AFTER_SECONDS = 5

/** The right of one reader to one stream. */
export interface StreamSlot {
  /** Keeps the slot taken, though the reader may leave: work for it is under way. */
  work(): void
  /** Frees the slot as soon as the reader leaves: no work is running. */
  rest(): void
  /** Frees the slot. */
  release(): void
}

interface Reader {
  /** Names the API key of the reader. */
  readonly caller: string
  /** Aborts when the reader has left. */
  readonly signal: AbortSignal
}

/** Limits the streams of each API key. */
export interface StreamLimit {
  /** @throws AppError `rate_limited` if the API key has too many streams */
  take(reader: Reader): StreamSlot
}

/**
 * Creates the limit. A stream counts until its last query is over and not only until its reader has left, so
 * that readers that come and go cause no more work at a time than those that stay.
 */
export function createStreamLimit(most: number): StreamLimit {
  const taken = new Map<string, Set<StreamSlot>>()
  return {
    take: ({ caller, signal }) => {
      const slots = taken.get(caller) ?? new Set()
      if (slots.size >= most) throw tooMany(most)
      let working = true
      const release = () => void (slots.delete(slot) && slots.size === 0 && taken.delete(caller))
      const releaseIfIdle = () => {
        if (!working && signal.aborted) release()
      }
      const slot: StreamSlot = {
        work: () => {
          working = true
        },
        rest: () => {
          working = false
          releaseIfIdle()
        },
        release,
      }
      taken.set(caller, slots.add(slot))
      signal.addEventListener('abort', releaseIfIdle, { once: true })
      return slot
    },
  }
}

function tooMany(most: number): AppError {
  const detail = `This API key already has ${most} event streams, the maximum; close one.`
  return new AppError('rate_limited', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}
