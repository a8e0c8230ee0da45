import { describe, test } from 'vitest'
import {
  compared,
  expectNoHarm,
  expectNothingChanged,
  expectWithinCap,
  FIELDS,
  type Lie,
  lying,
  NETWORKS,
  scale,
  startNodes,
} from './lying-endpoint.ts'

startNodes()

const LIES: readonly (readonly [string, Lie])[] = [
  ['10^9 times as much', scale(9)],
  ['ten times as much', scale(1)],
  ['a tenth', scale(-1)],
  ['a billionth', scale(-9)],
  ['zero', () => '0x0'],
  ['null', () => null],
  ['the code of a delegation', () => `0xef0100${'11'.repeat(20)}`],
]

const SPEEDS = ['safeLow', 'fastest'] as const

describe.each(LIES)('an endpoint that says %s', (_name, lie) => {
  describe.each([...FIELDS.keys()])('in an answer to %s', (method) => {
    test('changes nothing among three, harms nothing between two, and costs no more than the cap alone', {
      timeout: 120_000,
    }, async () => {
      for (const [index, { paths }] of (FIELDS.get(method) ?? []).entries()) {
        for (const [position, network] of NETWORKS.entries()) {
          const speed = SPEEDS[(index + position) % SPEEDS.length] ?? 'fastest'
          const as = lying(method, paths, lie)
          expectNothingChanged(await compared(3, network, speed, (index + position) % 3, as))
          expectNoHarm(await compared(2, network, speed, (index + position) % 2, as))
          expectWithinCap(await compared(1, network, speed, 0, as))
        }
      }
    })
  })
})
