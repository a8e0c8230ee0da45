import type { components, operations } from '../../generated/api.d.ts'

/** Types only: the contract as the rest of the code sees it. No other file imports from generated/. */

/** Every schema under `components.schemas`, by its name in openapi.yaml. u128 and int64 integers are bigint. */
export type Schemas = components['schemas']

/** The stable word for programs in a failure body. */
export type ErrorCode = Schemas['ErrorCode']

/** Where a transaction is. */
export type TransactionStatus = Schemas['TransactionStatus']

/** The `operationId`s of openapi.yaml, without those that receivers of webhooks serve: their names begin with `on`. */
export type OperationId = Exclude<keyof operations, `on${string}`>

type Parameters<
  Id extends OperationId,
  Place extends 'path' | 'query' | 'header',
> = operations[Id]['parameters'] extends { readonly [P in Place]?: infer T }
  ? [Exclude<T, undefined>] extends [never]
    ? Record<never, never>
    : Exclude<T, undefined>
  : Record<never, never>

type Body<Id extends OperationId> = operations[Id] extends {
  readonly requestBody: { readonly content: { readonly 'application/json': infer T } }
}
  ? T
  : undefined

/**
 * What a handler receives. It has been validated: required fields are there, nothing else is, u128 and int64 integers are
 * bigint whether they came as JSON integers or as decimal strings, defaults of query parameters are filled in, `page` and
 * `per_page` are whole numbers from 0 to 2147483647, and `status` is in lower case. `body` is undefined for an operation
 * without a request body.
 */
export interface Input<Id extends OperationId> {
  readonly path: Parameters<Id, 'path'>
  readonly query: Parameters<Id, 'query'>
  /** By the name in the contract. Only those that it declares. */
  readonly header: Parameters<Id, 'header'>
  readonly body: Body<Id>
}

type ContentOf<
  Id extends OperationId,
  Status extends number,
> = Status extends keyof operations[Id]['responses']
  ? operations[Id]['responses'][Status] extends { readonly content: infer C }
    ? C[keyof C]
    : never
  : never

type BodyOf<Id extends OperationId> = ContentOf<Id, 200 | 201 | 503>

/** Operations whose answer is not wrapped in the envelope. */
type BareOperationId = 'getHealth' | 'getReadiness' | 'callRpc'

/** Operations that go on answering. */
type StreamOperationId = 'streamEvents'

/** The type of `data` in the success envelope of an operation. */
export type Data<Id extends OperationId> = BodyOf<Id> extends { readonly data: infer T } ? T : never

/** The page that was served, which may differ from the one that was asked for. */
export type Pagination = Schemas['Pagination']

/** The answer of a handler; http puts the envelope around it. Failures are thrown as AppError. */
export type Success<Id extends OperationId> = {
  readonly data: Data<Id>
  /** Sentences for `metadata.logs`; left out when there are none. */
  readonly logs?: readonly string[]
} & (BodyOf<Id> extends { readonly pagination: Pagination } ? { readonly pagination: Pagination } : unknown)

/** The answer of an operation that has no envelope: the body goes out as it is. */
export interface Bare<Id extends OperationId> {
  readonly status: 200 | 503
  readonly body: BodyOf<Id>
}

/** A piece of a stream: a server-sent event, or only a sign of life. */
export type StreamPiece =
  | { readonly kind: 'event'; readonly id: string; readonly type: string; readonly data: unknown }
  | { readonly kind: 'alive' }

/** The answer of an operation that goes on. Pieces are asked for one at a time, as the caller takes them. */
export interface Streamed {
  readonly stream: AsyncIterable<readonly StreamPiece[]>
}

/** What belongs to a request besides its input. */
export interface RequestContext {
  /** Names the request in the log; echoed in `X-Request-Id`. */
  readonly requestId: string
  /** Aborted when the caller is gone or the time for the request is up. */
  readonly signal: AbortSignal
}

/** The answer to an operation. */
export type Result<Id extends OperationId> = Id extends BareOperationId
  ? Bare<Id>
  : Id extends StreamOperationId
    ? Streamed
    : Success<Id>

/** The business logic of one operation. */
export type Handler<Id extends OperationId> = (
  input: Input<Id>,
  context: RequestContext,
) => Promise<Result<Id>>

/** One handler for each operation of the contract; a missing one does not compile. */
export type HandlerMap = { readonly [Id in OperationId]: Handler<Id> }
