import type { DefaultContext, Middleware as KoaMiddleware, ParameterizedContext } from 'koa'
import type { ContractOperation } from '../contract/document.ts'
import type { ErrorCode } from '../errors.ts'

/** What the middleware know of a request besides what Koa does. */
export interface State {
  /** Names the request in logs and in `X-Request-Id`. */
  requestId: string
  /** The operation of the contract; absent until it is found, and for pages outside the contract. */
  operation?: ContractOperation
  /** The transaction that the request is about: as its path says, unchecked, or the one that was made. For the log. */
  transactionId?: string
  /** The code of the failure that is answered. */
  failureCode?: ErrorCode
}

/** Koa's context with our state. */
export type HttpContext = ParameterizedContext<State, DefaultContext>

/** A step of the list in server.ts. */
export type Middleware = KoaMiddleware<State, DefaultContext>
