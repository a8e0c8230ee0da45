import { stringifyJson } from '../../contract/exact-integers.ts'
import type { HttpContext } from '../state.ts'

/** Answers with JSON and exact integers. `no-store` keeps caches from answering for the API. */
export function sendJson(context: HttpContext, status: number, body: unknown): void {
  context.status = status
  context.res.setHeader('Content-Type', 'application/json; charset=utf-8')
  context.res.setHeader('Cache-Control', 'no-store')
  context.body = stringifyJson(body)
}

/** Answers with plain text. */
export function sendText(context: HttpContext, status: number, body: string): void {
  context.status = status
  context.set('Content-Type', 'text/plain; charset=utf-8')
  context.set('Cache-Control', 'no-store')
  context.body = body
}
