import { describe, expect, test } from 'vitest'
import { createGasLimits, readGasLimits } from '../../../../src/chains/evm/prepare/node-limits.ts'
import { type PrepareContext, prepareDraft } from '../../../../src/chains/evm/prepare/prepare.ts'
import { createSimulationRefusals } from '../../../../src/chains/simulations.ts'
import { createHurriedClock } from '../../../support/hurried-clock.ts'
import { accountWith, requestOf, TO } from '../build.ts'

const CONTENT = { to: TO, value: 1n, data: '0xAB' as const }
const CAP = 'transaction gas limit too high (cap: 16777216, tx: 17512000)'

describe('the limits of gas that a message names', () => {
  test.each([
    { message: CAP, want: { most: 16_777_216n } },
    {
      message: 'transaction gas limit (40000000) is greater than the cap (30000000)',
      want: { most: 30_000_000n },
    },
    { message: 'Transaction gas limit must be at most 16777216', want: { most: 16_777_216n } },
    {
      message: 'TxGasLimitCapExceeded: Gas limit 20000000 exceeded cap of 16777216.',
      want: { most: 16_777_216n },
    },
    {
      message: 'Gas limit of transaction is greater than the allowed max of 24000000',
      want: { most: 24_000_000n },
    },
    {
      message: 'GasLimitExceeded, Gas limit: 30000000, gas limit of rejected tx: 31000000',
      want: { most: 30_000_000n },
    },
    {
      message:
        'insufficient gas limit for tx size: tx size 40104 bytes must specify gas limit at least 407950 when the block gas limit is 16000000',
      want: { least: 407_950n },
    },
    { message: 'intrinsic gas too low: gas 20000, minimum needed 21000', want: { least: 21_000n } },
    { message: 'intrinsic gas cost 21064 exceeds gas limit 21000', want: { least: 21_064n } },
    { message: 'gas floor (31000) exceeds the gas limit (21000)', want: { least: 31_000n } },
    { message: 'exceeds block gas limit', want: {} },
    { message: 'Calldata of transaction is greater than the allowed max of 30000', want: {} },
  ])('"$message"', ({ message, want }) => {
    expect(readGasLimits(message)).toEqual(want)
  })
})

describe('the memory of limits of gas', () => {
  test('forgets what a node named after ten minutes, so that it is asked anew', () => {
    const clock = createHurriedClock()
    const limits = createGasLimits(clock)
    limits.sawRefusal({ ...CONTENT, gas: 17_512_000n }, CAP)
    limits.sawRefusal({ ...CONTENT, gas: 30_000n }, 'gas 30000, minimum needed 40000')
    clock.advance(599_999)
    expect([limits.most(), limits.leastFor(CONTENT)]).toEqual([16_777_216n, 40_000n])
    clock.advance(1)
    expect([limits.most(), limits.leastFor(CONTENT)]).toEqual([undefined, 0n])
  })

  test('knows a minimum for this content alone, in any spelling', () => {
    const limits = createGasLimits(createHurriedClock())
    limits.sawRefusal({ ...CONTENT, gas: 30_000n }, 'gas 30000, minimum needed 40000')
    expect(limits.leastFor({ to: TO.toLowerCase(), value: 1n, data: '0xab' })).toBe(40_000n)
    expect(limits.leastFor({ ...CONTENT, value: 2n })).toBe(0n)
    expect(limits.leastFor({ ...CONTENT, data: '0xac' })).toBe(0n)
  })

  test('does not believe a minimum far above what was refused', () => {
    const limits = createGasLimits(createHurriedClock())
    limits.sawRefusal({ ...CONTENT, gas: 30_000n }, 'gas 30000, minimum needed 480001')
    expect(limits.leastFor(CONTENT)).toBe(0n)
  })

  test('does not grow for ever', () => {
    const limits = createGasLimits(createHurriedClock())
    for (let value = 0n; value <= 1_000n; value += 1n)
      limits.sawRefusal({ ...CONTENT, value, gas: 30_000n }, 'gas 30000, minimum needed 40000')
    expect([0n, 1_000n].map((value) => limits.leastFor({ ...CONTENT, value }))).toEqual([0n, 40_000n])
  })
})

describe('the gas limit of a draft', () => {
  const prepare = async (estimate: bigint, message: string, gasLimit?: bigint) => {
    const gasLimits = createGasLimits(createHurriedClock())
    gasLimits.sawRefusal({ ...requestOf(), data: '0x', gas: 100_000n }, message)
    const context: PrepareContext = {
      client: {
        send: async () => [],
        call: async () => ({ kind: 'result', result: `0x${estimate.toString(16)}` }),
        sendEverywhere: async () => [],
        states: () => [],
      },
      simulations: createSimulationRefusals(1n, createHurriedClock()),
      gasLimits,
      market: async () => ({
        kind: 'ok',
        value: {
          gasPrice: 1n,
          blockGasLimit: 30_000_000n,
          tips: { safeLow: 1n, average: 1n, fast: 1n, fastest: 1n },
        },
      }),
      eip1559: false,
    }
    const request = requestOf(gasLimit === undefined ? {} : { gasLimit })
    const answer = await prepareDraft(context, { request, account: accountWith() })
    return answer.kind === 'ok' ? answer.value.draft.gasLimit : answer
  }

  test('has no margin above a named maximum, and keeps the estimate: a wrong node ends nothing', async () => {
    expect(await prepare(16_000_000n, CAP)).toBe(16_777_216n)
    expect(await prepare(20_000_000n, CAP)).toBe(20_000_000n)
  })

  test('is at least a named minimum', async () => {
    expect(await prepare(50_000n, 'must specify gas limit at least 407950 when')).toBe(407_950n)
    expect(await prepare(500_000n, 'must specify gas limit at least 407950 when')).toBe(550_000n)
  })

  test('of the caller is never changed', async () => {
    expect(await prepare(50_000n, 'must specify gas limit at least 407950 when', 60_000n)).toBe(60_000n)
    expect(await prepare(50_000n, CAP, 20_000_000n)).toBe(20_000_000n)
  })
})
