import { expect, test } from 'vitest'
import { crc32c } from '../../src/signers/key-services/google-cloud-kms.ts'

test.each([
  // RFC 3720, appendix B.4.
  ['32 zeros', new Uint8Array(32), 0x8a9136aa],
  ['32 bytes of ones', new Uint8Array(32).fill(255), 0x62a8ab43],
  ['32 rising bytes', Uint8Array.from({ length: 32 }, (_, index) => index), 0x46dd794e],
  ['the check value of the algorithm', new TextEncoder().encode('123456789'), 0xe3069283],
])('CRC-32C of %s', (_what, bytes, expected) => {
  expect(crc32c(bytes)).toBe(expected)
})
