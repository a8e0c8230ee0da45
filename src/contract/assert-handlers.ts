import type { Contract } from './document.ts'
import type { HandlerMap } from './handler.ts'
import type { OperationId } from './operations.ts'

/**
 * Requires one handler for each operation. The type HandlerMap proves it at compile time; this check finds callers without
 * types, and a build that is older than the contract.
 *
 * @throws Error when an operation has no handler, or a handler has no operation
 */
export function assertHandlers({ operations }: Contract, handlers: HandlerMap): void {
  const declared = operations.map(({ id }) => id)
  const missing = declared.filter((id) => typeof handlers[id] !== 'function')
  const unknown = Object.keys(handlers).filter((id) => !declared.includes(id as OperationId))
  if (missing.length > 0) throw new Error(`No handler for ${missing.join(', ')}`)
  if (unknown.length > 0) throw new Error(`No operation in openapi.yaml for ${unknown.join(', ')}`)
}
