/** A call by name does not fit its function. The message names the field, from `call` on, and is written for the caller. */
export class CallProblem extends Error {
  override readonly name = 'CallProblem'

  constructor(path: string, expected: string) {
    super(`${path}: ${expected}.`)
  }
}
