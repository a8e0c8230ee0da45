import type { components, operations } from './generated/api.ts'

/** Every schema of the contract by its name. Integers of more than 53 bits are bigint. */
export type Schemas = components['schemas']

/** The `operationId`s of the contract. Those of webhooks begin with `on`; a receiver serves them. */
export type OperationId = Exclude<keyof operations, `on${string}`>

type ContentOf<Id extends OperationId, Status extends number> = operations[Id]['responses'] extends {
  readonly [S in Status]: { content: infer Content }
}
  ? Content
  : never

/** JSON wherever an operation has it, because the client asks for it. */
type BodyOf<Content> = Content extends { 'application/json': infer Json } ? Json : Content[keyof Content]

type Answer<Id extends OperationId> = BodyOf<ContentOf<Id, 200> | ContentOf<Id, 201>>

/** The result of an operation: `data` of the envelope, or the whole body of an answer without an envelope. */
export type Data<Id extends OperationId> = Answer<Id> extends { data: infer T } ? T : Answer<Id>

/** The result of an operation that is only tried. */
export type DryRunOf<Id extends OperationId> = Extract<Data<Id>, { dry_run: true }>

/** The result of an operation that could also only be tried. */
export type SentBy<Id extends OperationId> = Exclude<Data<Id>, { dry_run: true }>

/** The request body of an operation. */
export type Body<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer T } }
}
  ? T
  : never

type Query<Id extends OperationId> = operations[Id]['parameters'] extends { query?: infer T }
  ? [T] extends [undefined]
    ? unknown
    : NonNullable<T>
  : unknown

/** Settings of one call. */
export interface CallOptions {
  /** Ends the call, and the waits between its tries. The call rejects with its reason. */
  readonly signal?: AbortSignal
}

interface KeyedOptions {
  /**
   * Your name for this request. The service makes one transaction of all requests with the same key and body, so a key that you have stored
   * before lets you repeat the request after a crash. By default, the client invents one for each call.
   */
  readonly idempotencyKey?: string
}

type Keyed<Id extends OperationId> = operations[Id]['parameters'] extends {
  header?: { 'Idempotency-Key'?: string }
}
  ? operations[Id]['parameters'] extends { header?: never } | { header?: { 'Idempotency-Key'?: '' } }
    ? unknown
    : KeyedOptions
  : unknown

/** The settings of one call of an operation: its query parameters, by their names in the contract, and those of the client. */
export type Options<Id extends OperationId> = Query<Id> & Keyed<Id> & CallOptions
