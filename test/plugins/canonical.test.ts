import { globSync, readFileSync } from 'node:fs'
import { concatHex, encodeAbiParameters, type Hex, numberToHex, parseAbiParameters } from 'viem'
import { expect, test } from 'vitest'
import { refuseShared } from '../../plugins/shared/canonical.ts'
import { Unavailable } from '../../plugins/shared/host.ts'
import { simulateCalls } from '../../plugins/x402/evm/simulate-calls.ts'

const word = (value: number | bigint) => numberToHex(value, { size: 32 })

/** A list of so many offsets, all of which lead to the same bytes. */
function bomb(offsets: number, bytes: number): Hex {
  return concatHex([
    word(32),
    word(offsets),
    ...Array.from({ length: offsets }, () => word(32 * offsets)),
    word(bytes),
    `0x${'ab'.repeat(bytes)}`,
  ])
}

/**
 * Files that decode no list of values of any length, so that what they decode is no larger than what they
 * get, and those that only encode what they have decoded elsewhere.
 */
const FLAT = [
  'plugins/gasless/fees/payment.ts',
  'plugins/gasless/forwarders/forward.ts',
  'plugins/gasless/operations/outcome.ts',
  'plugins/gasless/outcome.ts',
  'plugins/x402/evm/permit2.ts',
  'plugins/x402/evm/signed-approval.ts',
]

test('every file of a plugin that decodes the ABI refuses data that would decode to more than it has, or is known to decode none', () => {
  const decoding = globSync('plugins/**/*.ts').filter((file) => {
    const text = readFileSync(file, 'utf8')
    return /\b(decodeAbiParameters|decodeFunctionData)\b/.test(text) && !/\brefuseShared(In)?\(/.test(text)
  })
  expect(decoding.toSorted()).toEqual(FLAT)
})

test.each([
  ['bytes', ['0x010203']],
  ['bytes[]', [['0x', '0x01', `0x${'02'.repeat(33)}`]]],
  ['uint256, (address, bytes)[], bool', [1n, [['0x0000000000000000000000000000000000000001', '0x05']], true]],
  [
    '(uint256[], (bytes, uint8)[])[], bytes',
    [
      [
        [
          [1n, 2n],
          [
            ['0x', 1],
            ['0x02', 2],
          ],
        ],
        [[], []],
      ],
      '0x',
    ],
  ],
] as const)(
  'the encoding of %s is not refused, and is with an offset that leads elsewhere',
  (names, values) => {
    const types = parseAbiParameters(names)
    const data = encodeAbiParameters(types, values as never)
    refuseShared(types, data)
    const words = (data.length - 2) / 64
    const offset = Array.from({ length: words }, (_, at) => at).find(
      (at) => BigInt(`0x${data.slice(2 + 64 * at, 66 + 64 * at)}`) >= 32n,
    )
    const at = 2 + 64 * (offset ?? 0)
    const moved = `${data.slice(0, at)}${word(0).slice(2)}${data.slice(at + 64)}` as Hex
    expect(() => refuseShared(types, moved)).toThrow()
    expect(() => refuseShared(types, `${data}${'00'.repeat(32)}`)).toThrow()
  },
)

test.each([
  ['a thousand offsets to the same bytes', bomb(1_000, 32_000)],
  ['no bytes', '0x'],
  ['less than it says', word(32)],
] as const)('a node that answers a simulation with %s has told nothing, at once', async (_, answer) => {
  const started = performance.now()
  const asked = simulateCalls((async () => answer) as never, '0x0000000000000000000000000000000000000001', [])
  await expect(asked).rejects.toBeInstanceOf(Unavailable)
  expect(performance.now() - started).toBeLessThan(500)
})
