import type { AddressPolicy } from '../security/guarded-lookup.ts'
import { untrustedUrlProblem } from '../security/untrusted-url.ts'
import { isMasked } from './mask-url.ts'

/** Returns the problem of an RPC url that a caller of the API chose, to follow the name of its field; undefined for a good url. */
export function untrustedRpcUrlProblem(url: string, policy: AddressPolicy): string | undefined {
  if (isMasked(url)) return 'expected the whole url, not the masked one of an answer; or leave the field out'
  return untrustedUrlProblem(url, policy)
}
