import type { Clock } from '../lib/time.ts'
import type { Middleware } from './state.ts'

/**
 * The time in ms after which an answer waits for no further one of its turn. It takes about ten small requests. A longer time would delay the
 * first answers of a busy turn for little gain, a shorter one would send most answers alone.
 */
const LONGEST_WAIT_MS = 1

/** The answers of one turn of the event loop. */
interface Turn {
  answers: number
  readonly since: number
  readonly sent: Promise<void>
  readonly send: () => void
}

/**
 * Sends the answers of one turn of the event loop together, at its end. The system call of each would otherwise wake its reader between two
 * requests, and under load the changes between processes cost as much CPU as the requests. An answer does not wait when the turn before had no
 * other one either.
 */
export function answerOncePerTurn({ clock }: { clock: Pick<Clock, 'monotonic'> }): Middleware {
  let present: Turn | undefined
  let isBusy = false

  function end(turn: Turn): void {
    isBusy = turn.answers > 1
    if (present === turn) present = undefined
    turn.send()
  }

  function begin(): Turn {
    const { promise: sent, resolve: send } = Promise.withResolvers<void>()
    const turn = { answers: 0, since: clock.monotonic(), sent, send }
    setImmediate(end, turn)
    return turn
  }

  return async function answerOncePerTurn(_context, next) {
    await next()
    present ??= begin()
    const turn = present
    turn.answers += 1
    if (turn.answers === 1 && !isBusy) return
    if (clock.monotonic() - turn.since >= LONGEST_WAIT_MS) end(turn)
    await turn.sent
  }
}
