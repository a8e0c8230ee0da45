import { AppError } from '../errors.ts'

/** The seconds after which a refused reader may ask again. */
const RETRY_AFTER_SECONDS = 5

/** The right of one reader to one stream. */
export interface Seat {
  /** Keeps the seat taken, though the reader may leave: work for it is under way. */
  work(): void
  /** Gives the seat back as soon as the reader leaves: no work is under way. */
  rest(): void
  /** Gives the seat back. */
  leave(): void
}

interface Reader {
  /** Names the API key of the reader. */
  readonly caller: string
  /** Aborts when the reader has left. */
  readonly signal: AbortSignal
}

/** Limits the streams of each API key. */
export interface StreamLimit {
  /** @throws AppError `rate_limited` when the API key has too many streams */
  take(reader: Reader): Seat
}

/**
 * Creates the limit. A stream counts until its last query is over and not only until its reader has left, so that readers that come and
 * go cause no more work at a time than those that stay.
 */
export function createStreamLimit(most: number): StreamLimit {
  const taken = new Map<string, Set<Seat>>()
  return {
    take: ({ caller, signal }) => {
      const seats = taken.get(caller) ?? new Set()
      if (seats.size >= most) throw tooMany(most)
      let working = true
      const leave = () => void (seats.delete(seat) && seats.size === 0 && taken.delete(caller))
      const leaveIfIdle = () => {
        if (!working && signal.aborted) leave()
      }
      const seat: Seat = {
        work: () => {
          working = true
        },
        rest: () => {
          working = false
          leaveIfIdle()
        },
        leave,
      }
      taken.set(caller, seats.add(seat))
      signal.addEventListener('abort', leaveIfIdle, { once: true })
      return seat
    },
  }
}

function tooMany(most: number): AppError {
  const detail = `This API key already follows ${most} streams of events, the most that it may; close one.`
  return new AppError('rate_limited', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}
