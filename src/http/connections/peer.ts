import type { IncomingMessage } from 'node:http'
import { isIP, isIPv4, isIPv6 } from 'node:net'
import type { AddressList } from '../../lib/http/address-list.ts'

/** Names the sender of a connection or a request for limits. */
export interface Peers {
  /**
   * Names the other end of a connection; undefined for a trusted proxy, whose connections carry many senders.
   */
  ofConnection(remoteAddress: string | undefined): string | undefined
  /**
   * Names the sender of a request: the other end, or the address that trusted proxies report in
   * `X-Forwarded-For`.
   */
  ofRequest(request: IncomingMessage): string
}

/**
 * Creates the names of peers. The header of anyone but a trusted proxy is ignored, because callers write
 * anything there.
 */
export function createPeers(proxies: AddressList): Peers {
  const ofConnection = (address = '') => (proxies.has(address) ? undefined : networkOf(address))
  // Every request needs it, and the result for a connection never changes.
  const known = new WeakMap<object, string | undefined>()
  const ofSocket = (socket: IncomingMessage['socket']) => {
    if (!known.has(socket)) known.set(socket, ofConnection(socket.remoteAddress))
    return known.get(socket)
  }
  return {
    ofConnection,
    ofRequest: ({ socket, headers }) => {
      const direct = ofSocket(socket)
      if (direct !== undefined) return direct
      const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',')
      return networkOf(lastUntrusted(forwarded, proxies) ?? socket.remoteAddress ?? '')
    },
  }
}

/** Finds the newest address that no trusted proxy has: each proxy appends the address that it saw. */
function lastUntrusted(forwarded: readonly string[], proxies: AddressList): string | undefined {
  const newest = forwarded.map((text) => text.trim()).findLast((address) => !proxies.has(address))
  return newest !== undefined && isIP(newest) !== 0 ? newest : undefined
}

/** Returns the network that one peer controls: an IPv4 address, or the first 64 bits of an IPv6 address. */
function networkOf(address: string): string {
  const mapped = address.slice(address.lastIndexOf(':') + 1)
  if (isIPv4(mapped)) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('::', 2)
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
