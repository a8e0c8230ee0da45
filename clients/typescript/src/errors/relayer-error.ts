/** The base class of every error that the client makes. */
export class RelayerError extends Error {
  override readonly name: string = 'RelayerError'
}
