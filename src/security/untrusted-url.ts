import { type AddressPolicy, checkLiteral, ForbiddenAddressError } from './guarded-lookup.ts'

/** Characters that the url parser removes or rewrites, so that the requested url would differ from the stored one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression searches for control characters
const UNWRITTEN = /[\u0000-\u0020\u007f]/

/**
 * Describes the problem of a url that a caller of the API chose; undefined when there is none. Host names are resolved only at the
 * connection, because their addresses can change at any time.
 */
export function untrustedUrlProblem(text: string, policy: AddressPolicy): string | undefined {
  const url = URL.canParse(text) && !UNWRITTEN.test(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return 'expected an http:// or https:// url'
  try {
    checkLiteral(url, policy)
    return undefined
  } catch (error) {
    if (!(error instanceof ForbiddenAddressError)) throw error
    const hint = error.reach === 'private' ? ', which RELAYER_ALLOW_PRIVATE_URLS would allow' : ''
    return `expected a url that may be reached; ${error.message}${hint}`
  }
}
