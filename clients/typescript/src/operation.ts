import type { Paging } from './pages.ts'

/** What the client has to know of an operation to call it. */
export interface Operation {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  readonly path: string
  /** It has a request body. */
  readonly body?: true
  /** It answers with a list, which continues in this way. */
  readonly paging?: Paging
  /** It takes an `Idempotency-Key`. */
  readonly keyed?: true
  /** A status that is an answer although it is no success. */
  readonly answers?: number
}
