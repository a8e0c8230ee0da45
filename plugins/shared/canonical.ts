import type { Hex } from 'viem'

/** The same bytes with other padding would be another content, so there is one form. @throws any error for others */
export function refusePadded(data: Hex, canonical: Hex): void {
  if (data.toLowerCase() !== canonical.toLowerCase()) throw new Error('not the canonical encoding')
}
