/** A server answered more than the service reads. The rest of the answer was not read. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError'
}
