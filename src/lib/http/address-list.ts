import { BlockList, isIP } from 'node:net'

/** A list of IP addresses and networks. */
export interface AddressList {
  has(address: string): boolean
}

type Family = 'ipv4' | 'ipv6'

interface Range {
  readonly address: string
  readonly bits: number
  readonly family: Family
}

/** Tells whether a text is an IP address, or a network such as `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  return readRange(text) !== undefined
}

/**
 * Creates a list of addresses and networks. An IPv4 address in IPv6 notation counts as IPv4.
 * @throws Error for a text that is neither
 */
export function createAddressList(ranges: readonly string[]): AddressList {
  const list = new BlockList()
  for (const text of ranges) {
    const range = readRange(text)
    if (range === undefined) throw new Error(`"${text}" is neither an address nor a network`)
    list.addSubnet(range.address, range.bits, range.family)
  }
  return {
    has: (address) => {
      const family = familyOf(address)
      return family !== undefined && list.check(address, family)
    },
  }
}

function readRange(text: string): Range | undefined {
  const [address = '', length, ...rest] = text.split('/')
  const family = familyOf(address)
  if (family === undefined || rest.length > 0) return undefined
  const most = family === 'ipv4' ? 32 : 128
  const bits = length === undefined ? most : /^[0-9]{1,3}$/.test(length) ? Number(length) : Number.NaN
  return bits >= 0 && bits <= most ? { address, bits, family } : undefined
}

function familyOf(address: string): Family | undefined {
  const version = isIP(address)
  if (version === 0) return undefined
  return version === 4 ? 'ipv4' : 'ipv6'
}
