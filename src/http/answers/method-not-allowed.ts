import { AppError } from '../../errors.ts'
import type { Guard } from '../documentation/page-guard.ts'
import type { HttpContext } from '../state.ts'

/** The methods of a path, and the guard of the paths outside the operations. */
interface OtherMethodOptions {
  readonly allowed: readonly string[]
  readonly guard: Guard
}

/**
 * Answers a method that the contract does not declare for an existing path. OPTIONS needs no credential: the contract is
 * public, and browsers send none with it.
 *
 * @throws AppError `method_not_allowed` for every other method, after the guard
 */
export function answerOtherMethod(context: HttpContext, { allowed, guard }: OtherMethodOptions): void {
  if (context.method === 'OPTIONS') {
    answerOptions(context, allowed)
    return
  }
  guard(context)
  throw new MethodNotAllowedError(allowed)
}

/** Answers OPTIONS with the methods of the path. */
export function answerOptions(context: HttpContext, allowed: readonly string[]): void {
  context.status = 204
  context.set('Allow', allowed.join(', '))
}

/** The failure for a method that a path does not have. */
export class MethodNotAllowedError extends AppError {
  readonly allowedMethods: readonly string[]

  constructor(allowedMethods: readonly string[]) {
    super('method_not_allowed', `This path answers ${allowedMethods.join(', ')}.`)
    this.allowedMethods = allowedMethods
  }
}
