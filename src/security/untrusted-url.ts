import { type AddressPolicy, checkLiteral, ForbiddenAddressError } from './guarded-lookup.ts'

/** Characters that the parser of urls leaves out or rewrites: what was stored would not be what is asked. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNWRITTEN = /[\u0000-\u0020\u007f]/

/**
 * What is wrong with a url that a caller of the API chose, for the sentence that names its field; undefined when nothing is. A
 * name is looked up only when it is connected to: what it stands for may change at any time.
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
