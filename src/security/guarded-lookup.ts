import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { type Reach, reachOf } from './address-range.ts'

/** The url leads where this service does not go. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError'
  readonly reach: Reach

  constructor(host: string, reach: Reach) {
    const location = reach === 'private' ? 'in a private network' : 'at an address that is never allowed'
    super(`${host} is ${location}`)
    this.reach = reach
  }
}

export interface AddressPolicy {
  /** Whether this machine and the private networks around it may be reached. Link-local addresses never may. */
  readonly allowPrivate: boolean
}

/** The policy's word on an address. */
function isAllowed(address: string, { allowPrivate }: AddressPolicy): boolean {
  const reach = reachOf(address)
  return reach === 'public' || (reach === 'private' && allowPrivate)
}

/**
 * A url that names an address itself is never looked up, so it is checked here.
 * @throws ForbiddenAddressError
 */
export function checkLiteral(url: URL, policy: AddressPolicy): void {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0 && !isAllowed(host, policy)) throw new ForbiddenAddressError(host, reachOf(host))
}

/**
 * A `lookup` for sockets that gives only allowed addresses. Checked here, when the connection is made, because a name that was
 * harmless when the url was configured can point elsewhere a moment later.
 */
export function guardedLookup(policy: AddressPolicy): LookupFunction {
  return (host, options, callback) => {
    const all: LookupAllOptions = { ...options, all: true }
    lookup(host, all, (error, found: LookupAddress[]) => {
      if (error) return callback(error, '')
      const allowed = found.filter(({ address }) => isAllowed(address, policy))
      const [first] = allowed
      if (first === undefined)
        return callback(new ForbiddenAddressError(host, reachOf(found[0]?.address ?? '0.0.0.0')), '')
      if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })
  }
}
