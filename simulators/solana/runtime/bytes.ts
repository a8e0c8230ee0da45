import { type Address, getAddressDecoder, getBase58Decoder } from '@solana/kit'

const toBase58 = getBase58Decoder()
const toAddress = getAddressDecoder()

/** Reads bytes from the front; fails when there are too few. */
export interface Reader {
  /** The number of bytes that were read so far. */
  readonly offset: number
  /** The next byte, not yet taken. */
  peek(): number
  byte(): number
  bytes(length: number): Uint8Array
  address(): Address
  /** A length of the `short_vec` encoding (solana-short-vec): seven bits a byte, at most three bytes, at most 65535. */
  length(): number
}

/** Bytes that do not follow the wire format. */
export class WireFault extends Error {}

/** Reads `source` from its first byte. */
export function createReader(source: Uint8Array): Reader {
  let offset = 0
  const bytes = (length: number) => {
    if (offset + length > source.length) throw new WireFault('io error: unexpected end of file')
    offset += length
    return source.subarray(offset - length, offset)
  }
  const byte = () => bytes(1)[0] ?? 0
  return {
    get offset() {
      return offset
    },
    peek: () => source[offset] ?? 0,
    byte,
    bytes,
    address: () => toAddress.decode(bytes(32)),
    length: () => readLength(byte),
  }
}

function readLength(byte: () => number): number {
  let value = 0
  for (let index = 0; index < 3; index += 1) {
    const next = byte()
    if (index > 0 && next === 0) throw new WireFault('invalid value: an alias encoding of a length')
    value |= (next & 0x7f) << (7 * index)
    if (next < 0x80) break
    if (index === 2) throw new WireFault('invalid value: a length of more than three bytes')
  }
  if (value > 0xffff) throw new WireFault('invalid value: a length of more than 65535')
  return value
}

/** Reads `count` things. */
export function times<Thing>(count: number, read: () => Thing): Thing[] {
  return Array.from({ length: count }, read)
}

/** Bytes as Solana writes them for people: signatures, blockhashes, addresses. */
export function base58(bytes: Uint8Array): string {
  return toBase58.decode(bytes)
}
