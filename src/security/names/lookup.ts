import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { NameError } from './name-error.ts'
import type { NameResolver } from './resolver.ts'

/** Chooses the addresses that a connection may use. Throws when there is none. */
export type AddressFilter = (host: string, addresses: readonly LookupAddress[]) => readonly LookupAddress[]

/** Creates a `lookup` for sockets: the addresses that it returns are the ones to which they connect. */
export function createLookup(
  resolver: NameResolver,
  filter: AddressFilter = (_host, all) => all,
): LookupFunction {
  return (host, { family, all }, callback) => {
    const answer = async () => filter(host, onlyFamily(host, family, await resolver.resolve(host)))
    answer().then(
      (addresses) => {
        const [first] = addresses
        if (all === true) callback(null, [...addresses])
        else callback(null, first?.address ?? '', first?.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}

/** @throws NameError when the host has no address of this family */
function onlyFamily(
  host: string,
  family: number | string | undefined,
  addresses: readonly LookupAddress[],
): readonly LookupAddress[] {
  const wanted = Number(String(family ?? 0).replace('IPv', ''))
  const fitting = wanted === 0 ? addresses : addresses.filter((one) => one.family === wanted)
  if (fitting.length === 0) throw new NameError(host, 'ENOTFOUND')
  return fitting
}
