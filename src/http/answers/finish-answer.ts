import type { HttpContext, Middleware } from '../state.ts'

/** A last change to an answer before it is sent. */
export type FinishingStep = (context: HttpContext) => void

/**
 * Makes the last changes to each answer, in the order of the list. One middleware for all of them, because each one that waits for the next
 * costs promises, and none of these steps waits for anything else.
 */
export function finishAnswer(steps: readonly FinishingStep[]): Middleware {
  return async function finishAnswer(context, next) {
    await next()
    for (const step of steps) step(context)
  }
}
