import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { priceAt } from '../../../plugins/shared/uniswap.ts'
import { TOKEN_CODE } from '../x402/contract-code.ts'
import { TOKEN } from '../x402/evm-site.ts'
import { OBSERVED_POOL_CODE } from './contract-code.ts'
import { CHAIN_ID, type GaslessSite, GENEROUS, networkOf, pluginEntry, startGaslessSite } from './site.ts'

const POOL = parseAbi([
  'constructor(address token0, address token1, int24 tick, uint128 liquidity)',
  'function move(int24 to)',
])
const WRAPPED_COIN = `0x${'ee'.repeat(20)}` as const

/** 2000 tokens of six decimals for one coin: 2·10^9 of the smallest parts for 10^18. */
const TICK = Math.round(Math.log(2_000e6 / 1e18) / Math.log(1.0001))

let site: GaslessSite
let token: Hex
let pool: Hex

beforeAll(async () => {
  const pools: Record<string, Hex> = {}
  site = await startGaslessSite({
    prepare: async ({ deploy }) => {
      token = await deploy(TOKEN_CODE, TOKEN, ['Test Dollar', '2', 0n])
      pool = await deploy(OBSERVED_POOL_CODE, POOL, [WRAPPED_COIN, token, TICK, 10n ** 18n])
      pools['token-first'] = await deploy(OBSERVED_POOL_CODE, POOL, [token, WRAPPED_COIN, -TICK, 10n ** 18n])
      pools.stranger = await deploy(OBSERVED_POOL_CODE, POOL, [WRAPPED_COIN, pool, TICK, 10n ** 18n])
      pools.shallow = await deploy(OBSERVED_POOL_CODE, POOL, [WRAPPED_COIN, token, TICK, 10n])
    },
    entries: (known) => {
      const entry = (id: string, more: object, others: readonly object[] = []) => {
        const source = { type: 'uniswap_v3', pool, coin: WRAPPED_COIN, ...more }
        const price = { sources: [source, ...others] }
        return pluginEntry(id, {
          networks: [networkOf(known, { fee_tokens: [{ address: token, decimals: 6, price }] })],
          fee_collector: '0x00000000000000000000000000000000000000fe',
          ...GENEROUS,
        })
      }
      return [
        entry('gasless', {}),
        entry('moved', { seconds: 300 }),
        entry('token-first', { pool: pools['token-first'] }),
        entry('stranger', { pool: pools.stranger }),
        entry('shallow', { pool: pools.shallow, min_liquidity: '1000000' }),
        entry('young', { seconds: 100_000 }),
        entry('none', { pool: token }),
        entry('two', {}, [{ type: 'fixed', price: '2100' }]),
      ]
    },
  })
}, 60_000)
afterAll(() => site.stop())

const told = (mount: string) =>
  site.call<{ rate: number }>('relayer_getFeeData', { chainId: String(CHAIN_ID), token }, mount)

test.each(['gasless', 'token-first'])(
  'The mean of a pool is the price of a token, whichever is its first one (%s)',
  async (mount) => {
    expect((await told(mount)).result?.rate).toBeCloseTo(2000, -1)
  },
)

test.each<[string, RegExp]>([
  ['stranger', /is of .* and not of/],
  ['shallow', /less liquidity than 1000000/],
  ['young', /no price of the last 100000 s/],
  ['none', /tells no price/],
  ['two', /differ by more/],
])('A pool is no source of a price: %s', async (mount, message) => {
  expect((await told(mount)).error).toMatchObject({ code: -32603, message: expect.stringMatching(message) })
})

test('A pool that is moved for a moment moves the price by the share of that moment', async () => {
  await site.transact({
    to: pool,
    data: encodeFunctionData({ abi: POOL, functionName: 'move', args: [TICK * 2] }),
  })
  const { timestamp: moved } = await newest()
  await site.anvil.rpc('evm_setNextBlockTimestamp', [moved + MOMENT_SECONDS])
  await site.anvil.rpc('evm_mine')
  const { result } = await told('moved')
  const priceAfter = (seconds: number) => 2000 * 1.0001 ** ((TICK * seconds) / 300)
  // Calls are made some seconds after the newest block.
  expect(result?.rate).toBeLessThan(priceAfter(MOMENT_SECONDS - 1))
  expect(result?.rate).toBeGreaterThan(priceAfter(MOMENT_SECONDS * 2))
})

const MOMENT_SECONDS = 20

async function newest(): Promise<{ timestamp: number }> {
  const block = await site.anvil.rpc<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])
  return { timestamp: Number(block.timestamp) }
}

describe('The price at a tick', () => {
  test.each([0, 1, -1, 443_636, -443_636, 887_272, -887_272, TICK])('%d is 1.0001 to its power', (tick) => {
    for (const isCoinFirst of [true, false]) {
      const { numerator, denominator } = priceAt(BigInt(tick), { isCoinFirst, decimals: 18 })
      const power = 1.0001 ** (isCoinFirst ? tick : -tick)
      const scaled = Number((numerator * 10n ** 60n) / denominator) / 1e60
      if (power > 1e-30) expect(scaled / power).toBeCloseTo(1, 9)
    }
  })
})
