/** Passes at once, or in one of the next turns of the event loop. */
export type TurnGate = () => Promise<void> | undefined

/**
 * Creates a gate that so many callers pass in one turn of the event loop, in their order. Between two turns, what arrived meanwhile is read: many
 * requests that arrive together would otherwise delay a small one until the last of them has been worked on.
 */
export function createTurnGate(perTurn: number): TurnGate {
  const waiting: (() => void)[] = []
  let passed = 0

  function begin(): void {
    const next = waiting.splice(0, perTurn)
    passed = next.length
    if (passed > 0) setImmediate(begin)
    for (const pass of next) pass()
  }

  return () => {
    if (waiting.length > 0 || passed >= perTurn) return new Promise((resolve) => waiting.push(resolve))
    if (passed === 0) setImmediate(begin)
    passed += 1
    return undefined
  }
}
