import type { DefaultContext, Middleware as KoaMiddleware, ParameterizedContext } from 'koa'
import type { ContractOperation } from '../contract/document.ts'
import type { ErrorCode } from '../errors.ts'
import type { SocketMount } from './connections/sockets/endpoint.ts'

/** The state that the middleware share about a request. */
export interface State {
  /** Identifies the request in the log and in `X-Request-Id`. */
  requestId: string
  /** The operation of the contract; absent before routing, and for pages outside the contract. */
  operation?: ContractOperation
  /**
   * The path parameters, unchecked, and after a success the id of the record that the request created. For
   * the log.
   */
  ids?: Readonly<Record<string, string>>
  /** The id of the API key; absent for an unauthenticated caller. */
  apiKeyId?: string
  /** The operator opened the path to callers without an API key. */
  isOpen?: boolean
  /** The mount at whose path for WebSockets the request asks for one. */
  socketMount?: SocketMount
  /**
   * Identifies whose unread responses count together: the API key, or the peer address of an unauthenticated
   * caller; absent before routing.
   */
  caller?: string
  /**
   * The handler says that the request changed nothing, so that it can be repeated; if absent, its method
   * decides.
   */
  repeatable?: boolean
  /** The code of the failure that the caller receives. */
  failureCode?: ErrorCode
}

/** The context of Koa with our state. */
export type HttpContext = ParameterizedContext<State, DefaultContext>

/** A middleware of the list in pipeline.ts. */
export type Middleware = KoaMiddleware<State, DefaultContext>

/** Returns the fields that link a log line to its request and its transaction. */
export function logFields({ state: { requestId, operation, ids } }: HttpContext) {
  return { request_id: requestId, operation: operation?.id, transaction: ids?.transaction_id }
}

/**
 * Protects everything outside the operations of the contract. An unauthenticated caller learns neither which
 * paths exist nor which methods they have.
 *
 * @throws AppError `rate_limited` or `unauthorized`
 */
export type Guard = (context: HttpContext) => void
