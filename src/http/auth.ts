import { hash, timingSafeEqual } from 'node:crypto'
import { AppError } from '../errors.ts'

/** Who is asking: the number of the API key in the configuration, or why the credential is not acceptable. */
export type Caller =
  | { readonly kind: 'known'; readonly key: number }
  | { readonly kind: 'stranger'; readonly problem: AppError }

const MISSING = new AppError(
  'unauthorized',
  'Send the header Authorization with the value "Bearer" and your API key.',
)
const UNACCEPTABLE = new AppError('unauthorized', 'This API key is not accepted.')

/**
 * Tells who sent an `Authorization` header. Only hashes are kept and compared, in constant time and always against every
 * key, so that neither the length nor a common beginning shows.
 */
export function createAuthenticator(
  apiKeys: readonly string[],
): (authorization: string | undefined) => Caller {
  if (apiKeys.length === 0) throw new Error('at least one API key is needed')
  const hashes = apiKeys.map(digest)
  return (authorization) => {
    if (authorization === undefined) return { kind: 'stranger', problem: MISSING }
    const [, token] = /^bearer +(\S+)$/i.exec(authorization) ?? []
    if (token === undefined) return { kind: 'stranger', problem: MISSING }
    const digested = digest(token)
    const key = hashes.reduce((found, known, index) => (timingSafeEqual(known, digested) ? index : found), -1)
    return key < 0 ? { kind: 'stranger', problem: UNACCEPTABLE } : { kind: 'known', key }
  }
}

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
