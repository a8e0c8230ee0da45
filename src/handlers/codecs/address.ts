import type { Chain } from '../../chains/chain.ts'
import { AppError } from '../../errors.ts'

/**
 * Reads an address that a caller has written, and returns its canonical spelling. `path` is that of the
 * field, for errors.
 * @throws AppError `invalid_request` for an address that has a typing error by its checksum
 */
export function readAddress(chain: Chain, text: string, path: string): string {
  const problem = chain.addressProblem?.(text)
  if (problem !== undefined) throw new AppError('invalid_request', `${path}: ${problem}.`)
  return chain.canonicalAddress(text)
}
