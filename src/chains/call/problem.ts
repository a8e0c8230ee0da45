import type { Answer } from '../answer.ts'

/** A call by name does not fit its function. The message names the field and is written for the caller. */
export class CallProblem extends Error {
  override readonly name = 'CallProblem'

  constructor(path: string, expected: string) {
    super(`${path}: ${expected}.`)
  }
}

/** The result of an encoder or a reader that needs no network. */
export type CallResult<T> = Exclude<Answer<T>, { readonly kind: 'unknown' }>

/** Runs an encoder or a reader. The refusal of a call that does not fit has the message of its problem. */
export function callResult<T>(encode: () => T): CallResult<T> {
  try {
    return { kind: 'ok', value: encode() }
  } catch (error) {
    if (!(error instanceof CallProblem)) throw error
    return { kind: 'refused', refusal: { code: 'invalid_request', detail: error.message } }
  }
}
