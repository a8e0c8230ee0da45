/** Users of one thing, each of which has it for itself until its turn ends. */
export interface Turns {
  /** Resolves when the turn begins. `end` must follow it. */
  begin(kind: TurnKind): Promise<void>
  end(): void
}

/** A task waits for the end of an urgent turn. */
export type TurnKind = 'urgent' | 'ordinary'

/**
 * Grants turns first come, first served, urgent before ordinary. After each urgent turn one ordinary turn runs, so ordinary work is delayed
 * but never starved.
 */
export function createTurns(): Turns {
  const waiting: Readonly<Record<TurnKind, (() => void)[]>> = { urgent: [], ordinary: [] }
  let current: TurnKind | undefined

  function next(): TurnKind | undefined {
    const preferred: TurnKind = current === 'urgent' ? 'ordinary' : 'urgent'
    const other: TurnKind = preferred === 'urgent' ? 'ordinary' : 'urgent'
    return [preferred, other].find((kind) => waiting[kind].length > 0)
  }

  return {
    begin: (kind) => {
      if (current === undefined) {
        current = kind
        return Promise.resolve()
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting[kind].push(resolve)
      return promise
    },
    end: () => {
      current = next()
      if (current !== undefined) waiting[current].shift()?.()
    },
  }
}
