import { describe, expect, test } from 'vitest'
import type { EvmRelayerConfig } from '../../../src/relayers/relayer.ts'
import { topUpProblem, topUpProblems } from '../../../src/relayers/top-up.ts'

function relayer(id: string, from?: string, network = 'anvil'): EvmRelayerConfig {
  const topUp = from === undefined ? {} : { topUp: { from, below: 1n, to: 2n, max_per_day: 3n } }
  return { id, name: id, network, networkType: 'evm', signerId: id, paused: false, policies: topUp }
}

describe('the treasury of a relayer', () => {
  test.each([
    ['is fine on the same network', [relayer('a', 'b'), relayer('b')], undefined],
    ['may itself be filled', [relayer('a', 'b'), relayer('b', 'c'), relayer('c')], undefined],
    ['cannot be itself', [relayer('a', 'a')], 'cannot fill itself'],
    ['has to exist', [relayer('a', 'b')], 'there is no relayer "b"'],
    [
      'is on its network',
      [relayer('a', 'b'), relayer('b', undefined, 'sepolia')],
      'on another network (evm:sepolia)',
    ],
    ['is not filled by it', [relayer('a', 'b'), relayer('b', 'a')], 'in a circle: a from b from a'],
    [
      'is not filled by what it fills',
      [relayer('a', 'b'), relayer('b', 'c'), relayer('c', 'a')],
      'in a circle: a from b from c from a',
    ],
    [
      'may be part of a circle that it is not in',
      [relayer('a', 'b'), relayer('b', 'c'), relayer('c', 'b')],
      undefined,
    ],
  ])('%s', (_title, relayers, expected) => {
    const [first] = relayers
    const problem = first && topUpProblem(first, relayers)
    if (expected === undefined) expect(problem).toBeUndefined()
    else expect(problem).toContain(expected)
  })

  test('is checked for every relayer of a file', () => {
    const problems = topUpProblems([relayer('a', 'b'), relayer('b', 'c'), relayer('c', 'b')])
    expect(problems).toHaveLength(2)
    expect(problems[0]).toMatch(/^relayer "b" has an impossible top_up: .* b from c from b/)
  })
})
