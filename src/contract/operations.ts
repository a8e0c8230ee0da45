import type { components, operations, scopes } from '../../generated/api.d.ts'

/**
 * This file holds types only: the contract as the rest of the code sees it. No other file imports from
 * generated/.
 */

/**
 * Every schema under `components.schemas`, by its name in openapi.yaml. u128 and int64 integers are bigint.
 */
export type Schemas = components['schemas']

/**
 * The `operationId`s of openapi.yaml. The names of webhooks begin with `on`; receivers serve them, so they
 * are left out.
 */
export type OperationId = Exclude<keyof operations, `on${string}`>

type Parameters<
  Id extends OperationId,
  In extends 'path' | 'query' | 'header',
> = operations[Id]['parameters'] extends { readonly [P in In]?: infer T }
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
 * The input of a handler. It is valid: required fields exist, no undeclared field exists, u128 and int64
 * integers are bigint whether the caller sent JSON integers or decimal strings, query parameters have their
 * defaults, `page` and `per_page` are whole numbers from 0 to 2147483647, and `status` is in lower case.
 * `body` is undefined for an operation without a request body.
 */
export interface Input<Id extends OperationId> {
  readonly path: Parameters<Id, 'path'>
  readonly query: Parameters<Id, 'query'>
  /** The declared headers, by their names in the contract. */
  readonly header: Parameters<Id, 'header'>
  readonly body: Body<Id>
}

/** The input of an operation before validation. `body` is parsed JSON, as in a request. */
export interface RawInput {
  readonly path: Readonly<Record<string, string>>
  /** Parameters of the query, as text. Default: none. */
  readonly query?: Readonly<Record<string, string>>
  readonly body: unknown
}

type ContentOf<
  Id extends OperationId,
  Status extends number,
> = Status extends keyof operations[Id]['responses']
  ? operations[Id]['responses'][Status] extends { readonly content: infer C }
    ? C
    : never
  : never

type KeyOf<T> = T extends unknown ? keyof T : never
type ValueOf<T> = T extends unknown ? T[keyof T] : never

/** The body of a success, and of the 503 that readiness answers. */
type BodyOf<Id extends OperationId> = Exclude<
  ValueOf<ContentOf<Id, 200 | 201 | 503>>,
  { readonly success: false }
>

type MediaTypeOf<Id extends OperationId> = KeyOf<ContentOf<Id, 200 | 201>>

/** The type of `data` in the success envelope of an operation. */
export type Data<Id extends OperationId> = BodyOf<Id> extends { readonly data: infer T } ? T : never

/**
 * The page that the service served, which can differ from the page that the caller asked for, or the cursor
 * of the next one.
 */
export type Pagination = Schemas['Pagination'] | Schemas['CursorPagination']

/** The result of an operation with the envelope, which http adds. A handler throws AppError for a failure. */
export type Success<Id extends OperationId> = {
  readonly data: Data<Id>
  /** Sentences for `metadata.logs`; absent if there are none. */
  readonly logs?: readonly string[]
} & (BodyOf<Id> extends { readonly pagination: infer P extends Pagination }
  ? { readonly pagination: P }
  : unknown)

/** The result of an operation without the envelope: the body is sent unchanged. */
export interface Bare<Id extends OperationId> {
  /** One that the contract declares. */
  readonly status: number
  /** A text can come in parts: http takes the next one when the caller has read the previous one. */
  readonly body: BodyOf<Id> | (string extends BodyOf<Id> ? AsyncIterable<string> : never)
  /** The header of a text that is more than plain text. */
  readonly contentType?: string
}

/** A piece of a stream: a server-sent event, or a heartbeat. */
export type StreamPiece =
  | { readonly kind: 'event'; readonly id: string; readonly type: string; readonly data: unknown }
  | { readonly kind: 'alive' }

/** Pieces that are read when there is memory for them. */
export interface LatePieces {
  /** The bytes that they are expected to have. */
  readonly bytes: number
  /** Reads them. Several streams may get the same array. */
  read(): Promise<readonly StreamPiece[]>
}

/** Pieces that are sent together. */
export type StreamGroup = readonly StreamPiece[] | LatePieces

/**
 * The result of an operation that streams. http takes the next pieces when the caller has read the previous
 * ones.
 */
export interface Streamed {
  /**
   * The cursor before the first event. A caller that loses the connection before any event comes back with
   * it.
   */
  readonly after: string
  readonly stream: AsyncIterable<StreamGroup>
}

/** The events to which a ticket is bound. */
export interface TicketFilter {
  readonly relayerId?: string | undefined
  readonly type?: Schemas['EventType'] | undefined
}

/** The result of a handler. The declared response decides its form. */
export type Result<Id extends OperationId> =
  MediaTypeOf<Id> extends 'text/event-stream'
    ? Streamed
    : BodyOf<Id> extends { readonly success: true; readonly data: unknown }
      ? Success<Id>
      : Bare<Id>

/** The operations that anyone can call without a credential. */
export type OpenOperationId = 'getHealth' | 'getReadiness'

/** The operations that every API key can call, regardless of its scopes. */
export type UnscopedOperationId =
  | 'getVersion'
  | 'getCurrentApiKey'
  | 'listRoles'
  | 'endCurrentSession'
  | 'listProposals'
  | 'decideProposal'

/** The scope of each other operation. One without a scope does not compile. */
export type ScopeOf<Id extends Exclude<OperationId, OpenOperationId | UnscopedOperationId>> = scopes[Id]
