/** Structured data does not match its types. The message names the field and is written for the caller. */
export class TypedDataProblem extends Error {
  override readonly name = 'TypedDataProblem'

  readonly expected: string

  constructor(path: string, expected: string) {
    super(`${path}: ${expected}.`)
    this.expected = expected
  }
}
