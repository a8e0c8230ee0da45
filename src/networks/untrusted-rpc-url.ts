import type { AddressPolicy } from '../security/guarded-lookup.ts'
import { untrustedUrlProblem } from '../security/untrusted-url.ts'
import { isMasked } from './mask-url.ts'

/** What is wrong with an RPC url that a caller of the API chose, for the sentence that names its field; undefined when nothing is. */
export function untrustedRpcUrlProblem(url: string, policy: AddressPolicy): string | undefined {
  if (isMasked(url)) return 'expected the whole url, not the masked one of an answer; or leave the field out'
  return untrustedUrlProblem(url, policy)
}
