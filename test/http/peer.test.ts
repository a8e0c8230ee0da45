import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { createPeers } from '../../src/http/connections/peer.ts'
import { createAddressList, isAddressRange } from '../../src/lib/address-list.ts'

const peers = createPeers(createAddressList(['10.0.0.0/8', 'fd00::/8', '192.0.2.7']))

const request = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:1::6', '2001:db8:1:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['10.1.2.3', undefined],
  ['::ffff:10.1.2.3', undefined],
  ['192.0.2.7', undefined],
  ['192.0.2.8', '192.0.2.8'],
])('a connection of %s counts for %s', (address, peer) => {
  expect(peers.ofConnection(address)).toBe(peer)
})

test.each([
  ['a stranger writes the header', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['a proxy reports its caller', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['the caller wrote an entry before', '10.0.0.1', '6.6.6.6, 198.51.100.1', '198.51.100.1'],
  ['two proxies', '10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
  ['a proxy without the header', '10.0.0.1', undefined, '10.0.0.1'],
  ['a proxy reports no address', '10.0.0.1', 'unknown', '10.0.0.1'],
  ['a proxy of IPv6', 'fd00::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
])('%s', (_name, address, forwarded, peer) => {
  expect(peers.ofRequest(request(address, forwarded))).toBe(peer)
})

test.each([
  ['10.0.0.1', true],
  ['10.0.0.0/8', true],
  ['fd00::/8', true],
  ['10.0.0.0/33', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/8/8', false],
  ['example.com', false],
  ['', false],
])('%s is an address or a network: %s', (text, expected) => {
  expect(isAddressRange(text)).toBe(expected)
})
