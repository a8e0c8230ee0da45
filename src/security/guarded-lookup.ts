import { isIP, type LookupFunction } from 'node:net'
import { type Reach, reachOf } from './address-range.ts'
import { createLookup } from './names/lookup.ts'
import type { NameResolver } from './names/resolver.ts'

/** The url leads to an address that this service does not connect to. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError'
  readonly reach: Reach

  constructor(host: string, reach: Reach) {
    const location = reach === 'private' ? 'in a private network' : 'at an address that is never allowed'
    super(`${host} is ${location}`)
    this.reach = reach
  }
}

/** The addresses that connections may use. */
export interface AddressPolicy {
  /** True allows connections to this machine and to private networks. Link-local addresses are never allowed. */
  readonly allowPrivate: boolean
}

/** Applies the policy to an address. */
function isAllowed(address: string, { allowPrivate }: AddressPolicy): boolean {
  const reach = reachOf(address)
  return reach === 'public' || (reach === 'private' && allowPrivate)
}

/**
 * Checks a url whose host is an IP address. Such a host has no DNS lookup, so `guardedLookup` does not see it.
 * @throws ForbiddenAddressError
 */
export function checkLiteral(url: URL, policy: AddressPolicy): void {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0 && !isAllowed(host, policy)) throw new ForbiddenAddressError(host, reachOf(host))
}

/**
 * Creates a `lookup` for sockets that returns only allowed addresses. The check happens at the connection, because a name that was harmless
 * at the configuration can resolve to another address a moment later.
 */
export function guardedLookup(policy: AddressPolicy, resolver: NameResolver): LookupFunction {
  return createLookup(resolver, (host, found) => {
    const allowed = found.filter(({ address }) => isAllowed(address, policy))
    if (allowed.length > 0) return allowed
    throw new ForbiddenAddressError(host, reachOf(found[0]?.address ?? '0.0.0.0'))
  })
}
