/** The memory that all answers under way may take together. */
export interface ByteBudget {
  /** The bytes that the open shares hold now, without free ones. */
  readonly used: number
  /** Returns whether a new share could take this many bytes. */
  fits(bytes: number): boolean
  /** Opens the share of one answer. */
  open(): BudgetShare
}

/** The part of a budget that one answer holds. */
interface BudgetShare {
  /** @throws AnswerTooLargeError if the budget has too few bytes left */
  take(bytes: number): void
  /** Takes the bytes, even if the budget has too few left. */
  hold(bytes: number): void
  /** Releases everything. */
  close(): void
}

interface ByteBudgetOptions {
  readonly bytes: number
  /**
   * The first bytes of each answer, which do not count: large answers must not displace the many small ones.
   */
  readonly freeBytes: number
}

/**
 * Creates a budget. An answer that it cannot hold fails at once, because waiting responses would keep their
 * memory.
 */
export function createByteBudget({ bytes: total, freeBytes }: ByteBudgetOptions): ByteBudget {
  let used = 0
  const counted = (bytes: number) => Math.max(0, bytes - freeBytes)
  return {
    get used() {
      return used
    },
    fits: (bytes) => used + counted(bytes) <= total,
    open: () => {
      let taken = 0
      const growthOf = (bytes: number) => counted(taken + bytes) - counted(taken)
      const hold = (bytes: number) => {
        used += growthOf(bytes)
        taken += bytes
      }
      return {
        hold,
        take: (bytes) => {
          const growth = growthOf(bytes)
          if (growth > 0 && used + growth > total)
            throw new AnswerTooLargeError(
              `the responses being received have more than ${total} bytes together`,
            )
          hold(bytes)
        },
        close: () => {
          used -= counted(taken)
          taken = 0
        },
      }
    },
  }
}

/** A server answered more than the service reads. The rest of the answer was not read. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError'
}
