import { scValToNative } from '@stellar/stellar-sdk/base'
import { ScVal } from '@stellar/stellar-sdk/xdr'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkScValue } from '../../../../src/chains/stellar/check/soroban.ts'
import { encodeScValue, readSignerKey } from '../../../../src/chains/stellar/encode.ts'
import type { ScValue } from '../../../../src/chains/stellar/model/operation.ts'
import {
  baseAccountId,
  isAccountAddress,
  isAccountId,
  isContractAddress,
  toMuxedAccount,
} from '../../../../src/chains/stellar/model/strkey.ts'
import { OTHER } from '../build.ts'

const CONTRACT = 'CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA'

/** Each type's extremes, and XDR by RFC 4506 and `Stellar-contract.x`, written by hand. */
const ENCODED: readonly (readonly [ScValue, string])[] = [
  ['void', '00000001'],
  [{ bool: true }, '0000000000000001'],
  [{ u32: 4294967295 }, '00000003ffffffff'],
  [{ i32: -2147483648 }, '0000000480000000'],
  [{ u64: 2n ** 64n - 1n }, `00000005${'f'.repeat(16)}`],
  [{ i64: -(2n ** 63n) }, `000000068${'0'.repeat(15)}`],
  [{ timepoint: 1n }, '000000070000000000000001'],
  [{ duration: 1n }, '000000080000000000000001'],
  [{ u128: String(2n ** 128n - 1n) }, `00000009${'f'.repeat(32)}`],
  [{ u128: { hi: 1n, lo: 2n ** 64n - 1n } }, `000000090000000000000001${'f'.repeat(16)}`],
  [{ i128: String(-(2n ** 127n)) }, `0000000a8${'0'.repeat(31)}`],
  [{ i128: { hi: -1n, lo: 2n ** 64n - 2n } }, `0000000a${'f'.repeat(31)}e`],
  [{ i128: '-1' }, `0000000a${'f'.repeat(32)}`],
  [{ u256: String(2n ** 256n - 1n) }, `0000000b${'f'.repeat(64)}`],
  [{ i256: String(-(2n ** 255n)) }, `0000000c8${'0'.repeat(63)}`],
  [{ i256: { hi_hi: -1n, hi_lo: 0n, lo_hi: 0n, lo_lo: 1n } }, `0000000c${'f'.repeat(16)}${'0'.repeat(47)}1`],
  [{ bytes: 'c0ffee' }, '0000000d00000003c0ffee00'],
  [{ string: 'é' }, '0000000e00000002c3a90000'],
  [{ symbol: 'ab' }, '0000000f0000000261620000'],
  [{ vec: [{ u32: 1 }, 'void'] }, '00000010000000010000000200000003' + '00000001' + '00000001'],
]

describe('arguments of smart contracts', () => {
  test.each(ENCODED)('are encoded as XDR in case %#', (value, hex) => {
    expect(checkScValue(value, 'args[0]')).toBeUndefined()
    expect(encodeScValue(value).toXdr('hex')).toBe(hex)
  })

  test('a map is put in the order of its keys, as smart contracts want it', () => {
    const map = ['b', 'a', 'B'].map((symbol) => ({ key: { symbol }, val: { u32: 1 } }))
    const encoded = encodeScValue({ map })
    expect(Object.keys(scValToNative(encoded) as object)).toEqual(['B', 'a', 'b'])
  })

  test('may be addresses of accounts and of smart contracts', () => {
    expect(scValToNative(encodeScValue({ address: OTHER }))).toBe(OTHER)
    expect(scValToNative(encodeScValue({ address: CONTRACT }))).toBe(CONTRACT)
  })

  test('any integer comes back from the XDR as the same, whole or in parts', () => {
    const widths = [
      ['u128', 0n, 2n ** 128n - 1n],
      ['i128', -(2n ** 127n), 2n ** 127n - 1n],
      ['u256', 0n, 2n ** 256n - 1n],
      ['i256', -(2n ** 255n), 2n ** 255n - 1n],
    ] as const
    for (const [type, min, max] of widths) {
      fc.assert(
        fc.property(fc.bigInt({ min, max }), (integer) => {
          const value = { [type]: integer.toString() }
          expect(checkScValue(value, 'x')).toBeUndefined()
          expect(scValToNative(ScVal.fromXdr(encodeScValue(value).toXdr()))).toBe(integer)
        }),
      )
      for (const outside of [min - 1n, max + 1n]) {
        expect(checkScValue({ [type]: outside.toString() }, 'x')).toMatch(`x.${type}: an integer of`)
      }
    }
  })

  const WRONG: readonly (readonly [ScValue, string])[] = [
    [{}, 'x: exactly one field is expected, which names the type.'],
    [{ u32: 1, i32: 1 }, 'x: exactly one field is expected, which names the type.'],
    [{ u64: 2n ** 64n }, 'x.u64: an integer from 0 to 18446744073709551615 is expected.'],
    [{ i64: 2n ** 63n }, 'x.i64: an integer from -9223372036854775808 to 9223372036854775807 is expected.'],
    [{ symbol: 'a-b' }, 'x.symbol: at most 32 letters, digits and underscores are expected.'],
    [
      { vec: [{ u32: 0 }, { address: `${OTHER.slice(0, -1)}A` }] },
      'x.vec[1].address: a Stellar address is expected (G… or C…); its checksum is wrong.',
    ],
    [
      { map: [{ key: { symbol: 'a' }, val: { u32: -1 } }] },
      'x.map[0].val.u32: an integer from 0 to 4294967295 is expected.',
    ],
  ]

  test.each(WRONG)('%# is refused', (value, problem) => {
    expect(checkScValue(value, 'x')).toBe(problem)
  })

  test('nesting that no smart contract takes is refused', () => {
    let value: ScValue = 'void'
    for (let depth = 0; depth < 101; depth += 1) value = { vec: [value] }
    expect(checkScValue(value, 'x')).toContain('values may be nested 100 deep.')
  })
})

/** The vectors of SEP-23, "Tests". */
const G = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'
const KEY = '3f0c34bf93ad0d9971d04ccc90f705511c838aad9734a4a2fb0d7a03fc7fe89a'
const MUXED = [
  ['MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ', '0000000000000000'],
  ['MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK', '8000000000000000'],
] as const

const PAYLOADS = [
  'PA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAQACAQDAQCQMBYIBEFAWDANBYHRAEISCMKBKFQXDAMRUGY4DUPB6IBZGM',
  'PA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAOQCAQDAQCQMBYIBEFAWDANBYHRAEISCMKBKFQXDAMRUGY4DUAAAAFGBU',
]

const INVALID = [
  'GAAAAAAAACGC6',
  'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUR',
  'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZA',
  'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUACUSI',
  'G47QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVP2I',
  'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLKA',
  'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAAV75I',
  'M47QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ',
  'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUK===',
  'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUO',
  'PA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAQACAQDAQCQMBYIBEFAWDANBYHRAEISCMKBKFQXDAMRUGY4DUPB6IAAAAAAAAPM',
  'PA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAOQCAQDAQCQMBYIBEFAWDANBYHRAEISCMKBKFQXDAMRUGY4Z2PQ',
  'PA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAOQCAQDAQCQMBYIBEFAWDANBYHRAEISCMKBKFQXDAMRUGY4DXFH6',
]

describe('addresses (SEP-23)', () => {
  test('an account is its key', () => {
    expect(isAccountId(G)).toBe(true)
    expect(toMuxedAccount(G).toXdr('hex')).toBe(`00000000${KEY}`)
  })

  test.each(MUXED)('a muxed account %s is its number %s and its key', (address, id) => {
    expect(isAccountAddress(address)).toBe(true)
    expect(isAccountId(address)).toBe(false)
    expect(toMuxedAccount(address).toXdr('hex')).toBe(`00000100${id}${KEY}`)
    expect(baseAccountId(address)).toBe(G)
  })

  test('a smart contract is none of both', () => {
    const contract = 'CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA'
    expect(isContractAddress(contract)).toBe(true)
    expect(isAccountAddress(contract)).toBe(false)
  })

  test.each(PAYLOADS)('a signed payload is a signer: %s', (text) => {
    expect(readSignerKey(text)?.type).toBe('signerKeyTypeEd25519SignedPayload')
  })

  test.each(INVALID)('%s is nothing', (text) => {
    expect(isAccountAddress(text)).toBe(false)
    expect(readSignerKey(text)).toBeUndefined()
  })
})
