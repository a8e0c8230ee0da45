/**
 * A failure that HTTP tells by its status. Its name makes the host pass it on; any other error is an
 * unexpected one.
 */
export class CallError extends Error {
  override readonly name = 'PluginError'
  /** 400 to 599. */
  readonly status: number
  /** For programs. */
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}
