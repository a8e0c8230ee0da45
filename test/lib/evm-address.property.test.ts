import fc from 'fast-check'
import { checksumAddress, isAddress } from 'viem'
import { expect, test } from 'vitest'
import { hasWrongChecksum } from '../../src/lib/evm-address.ts'

const bytes = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((all) => Buffer.from(all).toString('hex'))
const chainIds = fc.integer({ min: 1, max: 2 ** 31 })

/** The same address with the case of one of its letters changed; undefined for one without letters. */
function mistyped(address: string, at: number): string | undefined {
  const places = [...address.slice(2)].flatMap((digit, index) => (/[a-f]/i.test(digit) ? [index + 2] : []))
  const place = places[at % places.length]
  if (place === undefined) return undefined
  const letter = address[place] ?? ''
  const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
  return address.slice(0, place) + other + address.slice(place + 1)
}

test('an address in one letter case has no checksum', () => {
  fc.assert(
    fc.property(bytes, (hex) => {
      expect(hasWrongChecksum(`0x${hex}`)).toBe(false)
      expect(hasWrongChecksum(`0x${hex.toUpperCase()}`)).toBe(false)
    }),
  )
})

test('a checksum is right where viem accepts it, and wrong after any change of a letter', () => {
  fc.assert(
    fc.property(bytes, fc.nat(), (hex, at) => {
      const right = checksumAddress(`0x${hex}`)
      expect(hasWrongChecksum(right)).toBe(false)
      const wrong = mistyped(right, at)
      const isOneCase =
        wrong === undefined || [wrong.toLowerCase(), `0x${wrong.slice(2).toUpperCase()}`].includes(wrong)
      if (!isOneCase) expect(hasWrongChecksum(wrong, [])).toBe(!isAddress(wrong))
    }),
  )
})

test('a checksum with a chain id (EIP-1191) is right for that chain', () => {
  fc.assert(
    fc.property(bytes, chainIds, (hex, chainId) => {
      const right = checksumAddress(`0x${hex}`, chainId)
      expect(hasWrongChecksum(right, [1, chainId])).toBe(false)
    }),
  )
  // The first vector of EIP-1191, on Rootstock.
  const rootstock = '0x27b1FdB04752BBc536007A920D24ACB045561c26'
  expect([
    hasWrongChecksum(rootstock),
    hasWrongChecksum(rootstock, [30]),
    hasWrongChecksum(rootstock, [1]),
  ]).toEqual([false, false, true])
})
