/** IPv4 addresses in an IPv6 address, to which a host or a gateway may forward. */
export interface EmbeddedIpv4 {
  readonly addresses: readonly string[]
  /** The internet forwards to the IPv4 address. Otherwise only some hosts and private gateways do. */
  readonly isRouted: boolean
}

interface Format {
  /** The first bytes of the addresses. */
  readonly prefix: readonly number[]
  /** The places of the IPv4 address; several where the length of the gateway's prefix is not known. */
  readonly places: readonly (readonly [number, number, number, number])[]
  readonly isRouted: boolean
  /** The bits of the address are inverted. */
  readonly isInverted?: true
}

const LAST = [12, 13, 14, 15] as const
const ZEROS_10 = Array<number>(10).fill(0)

const FORMATS: readonly Format[] = [
  // RFC 4291, section 2.5.5.2: sockets connect to the IPv4 address.
  { prefix: [...ZEROS_10, 0xff, 0xff], places: [LAST], isRouted: true },
  // RFC 2765: IPv4-translated.
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], places: [LAST], isRouted: false },
  // RFC 4291, section 2.5.5.1: IPv4-compatible, deprecated.
  { prefix: [...ZEROS_10, 0, 0], places: [LAST], isRouted: false },
  // RFC 6052: networks with IPv6 alone reach the IPv4 internet by this prefix.
  { prefix: [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], places: [LAST], isRouted: true },
  // RFC 8215: translation inside a network, with prefixes of 48, 56, 64 and 96 bits (RFC 6052, section 2.2).
  {
    prefix: [0, 0x64, 0xff, 0x9b, 0, 1],
    places: [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], LAST],
    isRouted: false,
  },
  // RFC 3056: 6to4.
  { prefix: [0x20, 0x02], places: [[2, 3, 4, 5]], isRouted: false },
  // RFC 4380: Teredo, with the server, and the client in inverted bits.
  { prefix: [0x20, 0x01, 0, 0], places: [[4, 5, 6, 7]], isRouted: false },
  { prefix: [0x20, 0x01, 0, 0], places: [LAST], isRouted: false, isInverted: true },
]

/** Finds the IPv4 addresses in the 16 bytes of an IPv6 address; undefined when it has no format that contains one. */
export function embeddedIpv4(bytes: readonly number[]): EmbeddedIpv4 | undefined {
  // `::` and `::1` are addresses of IPv6 itself.
  if (bytes.slice(0, 15).every((byte) => byte === 0) && (bytes[15] ?? 0) <= 1) return undefined
  const formats = FORMATS.filter(({ prefix }) => prefix.every((byte, index) => bytes[index] === byte))
  if (formats.length === 0) return undefined
  const addresses = formats.flatMap((format) => readPlaces(bytes, format))
  return { addresses, isRouted: formats.every(({ isRouted }) => isRouted) }
}

/** A format can have several places. An address that begins with 0 is then a part of another one, because no host has such an address. */
function readPlaces(bytes: readonly number[], { places, isInverted }: Format): string[] {
  const read = places.map((place) => place.map((at) => (bytes[at] ?? 0) ^ (isInverted ? 0xff : 0)))
  const likely = places.length === 1 ? read : read.filter(([first]) => first !== 0)
  return likely.map((octets) => octets.join('.'))
}
