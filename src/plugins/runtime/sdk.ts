/**
 * The part of `@openzeppelin/relayer-sdk`, and of the older `../lib/plugin`, that plugins use at run time. The bundler puts it in their place
 * where the package is not installed. Everything else that plugins import from there is a type.
 */

/** The price levels of EVM transactions. */
export const Speed = { FASTEST: 'fastest', FAST: 'fast', AVERAGE: 'average', SAFE_LOW: 'safeLow' } as const

/** What an error tells the caller besides its message. */
export interface PluginErrorOptions {
  /** A word for programs. */
  readonly code?: string
  /** The HTTP status, 400 to 599. Default: 500. */
  readonly status?: number
  /** Any JSON. */
  readonly details?: unknown
}

/** A failure that the caller of the plugin sees as it is; any other error is only `500`. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
  readonly code: string | undefined
  readonly status: number | undefined
  readonly details: unknown

  constructor(message: string, options: PluginErrorOptions = {}) {
    super(message)
    this.code = options.code
    this.status = options.status
    this.details = options.details
  }
}

/** Makes an error for the caller: `throw pluginError('no such user', { code: 'UNKNOWN_USER', status: 404 })`. */
export function pluginError(message: string, options?: PluginErrorOptions): PluginError {
  return new PluginError(message, options)
}

/** A handler of a plugin that exports none. */
type Runner = (api: never, params: never) => unknown

let runner: Runner | undefined

/** Gives the handler of a plugin of the oldest form, which calls this when it is loaded. */
export function runPlugin(handler: Runner): void {
  runner = handler
}

/** Returns the handler that the plugin gave to `runPlugin`. */
export function givenRunner(): Runner | undefined {
  return runner
}
