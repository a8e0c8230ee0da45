import { encodeFunctionData, type Hex, numberToHex, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { feeFor } from '../../../plugins/gasless/fees/fee.ts'
import { until } from '../../support/until.ts'
import { TOKEN_CODE } from '../x402/contract-code.ts'
import { TOKEN } from '../x402/evm-site.ts'
import { type BatchTerms, batchBy, type Call, forwardBy } from './sign.ts'
import {
  type AccountName,
  CHAIN_ID,
  countCall,
  type GaslessSite,
  GENEROUS,
  networkOf,
  pluginEntry,
  startGaslessSite,
} from './site.ts'

const COLLECTOR = '0x00000000000000000000000000000000000000fe'
const [COIN_FEED, TOKEN_FEED] = [`0x${'c1'.repeat(20)}`, `0x${'c2'.repeat(20)}`] as const
const TRANSFER = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])

let site: GaslessSite
let token: Hex
/** It keeps a tenth of each transfer. */
let greedy: Hex

const fixed = (price: string) => ({ type: 'fixed', price })
const chainlink = {
  type: 'chainlink',
  coin: { address: COIN_FEED, max_age_seconds: 3_600 },
  token: { address: TOKEN_FEED, max_age_seconds: 86_400 },
}

beforeAll(async () => {
  site = await startGaslessSite({
    prepare: async ({ deploy }) => {
      token = await deploy(TOKEN_CODE, TOKEN, ['Test Dollar', '2', 0n])
      greedy = await deploy(TOKEN_CODE, TOKEN, ['Greedy Dollar', '2', 10n])
    },
    entries: (known) => {
      const entry = (id: string, sources: readonly object[], more: object = {}) =>
        pluginEntry(id, {
          networks: [
            networkOf(known, {
              sponsored: false,
              fee_tokens: [token, greedy].map((address) => ({ address, decimals: 6, price: { sources } })),
            }),
          ],
          fee_collector: COLLECTOR,
          ...GENEROUS,
          ...more,
        })
      return [
        entry('gasless', [fixed('2000')]),
        entry('strict', [fixed('2000')], { failures: { user: 1 } }),
        entry('feeds', [fixed('2000'), chainlink]),
      ]
    },
  })
}, 60_000)
afterAll(() => site.stop())
afterEach(() => site.anvil.rpc('evm_setAutomine', [true]))

interface Status {
  readonly status: number
  readonly message?: string
}

interface FeeQuote {
  readonly fee: string
  readonly context: string
}

const ended = (id: Hex, mount?: string) =>
  until(
    async () => {
      await site.anvil.rpc('evm_mine')
      return (await site.call<Status>('relayer_getStatus', { id }, mount)).result as Status
    },
    ({ status }) => status !== 100 && status !== 110,
  )
const quoteFor = async (of: Hex, gas = 300_000) => {
  const params = { chainId: String(CHAIN_ID), gas: String(gas), token: of }
  return (await site.call<FeeQuote>('relayer_getFeeQuote', params)).result as FeeQuote
}
const balanceOf = (account: Hex, of = token) => site.read(of, TOKEN, 'balanceOf', [account])
const mint = (to: Hex, value: bigint, of = token) =>
  site.transact({ to: of, data: encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [to, value] }) })
const transfer = (value: bigint, { of = token, to = COLLECTOR as Hex } = {}): Call => ({
  to: of,
  data: encodeFunctionData({ abi: TRANSFER, args: [to, value] }),
})
const increment = (): Call => ({ to: site.stranger, data: countCall('increment') })

async function rich(value = 10n ** 9n, of = token): Promise<PrivateKeyAccount> {
  const user = site.user()
  await mint(user.address, value, of)
  return user
}

async function paying(
  user: PrivateKeyAccount,
  calls: readonly Call[],
  {
    of = token,
    kind = 'gelato',
    context,
    ...terms
  }: BatchTerms & { of?: Hex; kind?: AccountName; context?: string; delegated?: boolean } = {},
): Promise<object> {
  const payment = { type: 'token', address: of }
  return { ...(await batchBy(site, kind, user, calls, terms)), payment, ...(context && { context }) }
}

const refusal = async (content: object, mount?: string) =>
  (await site.call('relayer_sendTransaction', content, mount)).error

test.each<[AccountName]>([['gelato'], ['calibur'], ['thirdweb'], ['turnkey']])(
  'A batch for %s that pays what was quoted first is made, and the fee collector has it',
  async (kind) => {
    const user = await rich()
    const before = await balanceOf(COLLECTOR)
    const { fee, context } = await quoteFor(token)
    const content = await paying(user, [transfer(BigInt(fee)), increment()], { kind, context })
    expect((await ended(await site.send(content))).status).toBe(200)
    expect((await balanceOf(COLLECTOR)) - before).toBe(BigInt(fee))
    expect(await site.countOf(site.stranger, user.address)).toBe(1n)
  },
)

test('relayer_getCapabilities and relayer_getFeeData name the tokens, their rate, and one quote for all callers', async () => {
  const tokens = [token, greedy].map((address) => ({ address, decimals: 6 }))
  expect((await site.call('relayer_getCapabilities', [])).result).toEqual({
    [CHAIN_ID]: { feeCollector: COLLECTOR, tokens },
  })
  const asked = { chainId: String(CHAIN_ID), token }
  const answers = await Promise.all([1, 2].map(() => site.call<FeeQuote>('relayer_getFeeData', asked)))
  const [first, second] = answers.map(({ result }) => result)
  expect(first).toMatchObject({ rate: 2000, token: { address: token, decimals: 6 }, minFee: '0' })
  expect(first?.context).toBe(second?.context)
})

describe('a batch that does not pay', () => {
  const much = 10n ** 8n
  test.each<[string, number, () => Promise<object>]>([
    [
      'because it asks to be sponsored',
      4200,
      async () => batchBy(site, 'gelato', await rich(), [increment()]),
    ],
    ['because no call pays', 4200, async () => paying(await rich(), [increment()])],
    ['after another call', 4200, async () => paying(await rich(), [increment(), transfer(much)])],
    [
      'the collector',
      4200,
      async () => paying(await rich(), [transfer(much, { to: `0x${'44'.repeat(20)}` }), increment()]),
    ],
    [
      'in the token that it names',
      4200,
      async () => paying(await rich(much, greedy), [transfer(much, { of: greedy })]),
    ],
    ['enough', 4200, async () => paying(await rich(), [transfer(1n), increment()])],
    ['because the user has nothing', 4211, async () => paying(site.user(), [transfer(much), increment()])],
    ['in a listed token', 4202, async () => paying(await rich(), [transfer(much)], { of: site.stranger })],
    ['as it was quoted', 4204, async () => paying(await rich(), [transfer(much)], { context: 'made up' })],
    [
      'because a forwarder makes it',
      4202,
      async () => ({
        ...(await forwardBy(site, 'openzeppelin', site.user(), {
          to: site.forwarders.openzeppelin.counter,
          data: countCall('increment'),
        })),
        payment: { type: 'token', address: token },
      }),
    ],
  ])('%s, is refused', async (_, code, sign) => {
    expect(await refusal(await sign())).toMatchObject({ code })
  })

  test('enough, is told what it costs', async () => {
    const { fee } = await quoteFor(token, 1_000_000)
    const error = await refusal(await paying(await rich(), [transfer(1n), increment()]))
    const { requiredPaymentAmount: needed } = Object(error?.data) as { requiredPaymentAmount: string }
    expect(BigInt(needed)).toBeGreaterThan(0n)
    expect(BigInt(needed)).toBeLessThan(BigInt(fee))
  })
})

test('A batch that pays for gas far below its price is not signed until the price is paid for', async () => {
  const user = await rich()
  const { fee, context } = await quoteFor(token)
  const price = BigInt(await site.anvil.rpc<Hex>('eth_gasPrice', []))
  const fees = await balanceOf(COLLECTOR)
  await site.anvil.rpc('evm_setAutomine', [false])
  // The endpoint that told the price lied, or the network has become dearer since.
  await site.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [numberToHex(price * 5n)])
  await site.anvil.rpc('evm_mine')
  const id = await site.send(await paying(user, [transfer(BigInt(fee)), increment()], { context }))
  const path = `/transactions?reference=${id}`
  const read = async () => (await site.service.api<Waiting[]>('GET', path)).body.data[0]
  const waiting = await until(read, (one) => one?.status_reason !== undefined)
  expect(waiting).toMatchObject({ status: 'pending', status_reason: expect.stringContaining('lower fee') })
  expect(waiting?.nonce).toBeUndefined()
  expect(await balanceOf(COLLECTOR)).toBe(fees)
  await site.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [numberToHex(price)])
  expect((await ended(id)).status).toBe(200)
  expect((await balanceOf(COLLECTOR)) - fees).toBe(BigInt(fee))
})

interface Waiting {
  readonly status: string
  readonly status_reason?: string
  readonly nonce?: number
}

describe('a user who pays and takes it back', () => {
  test('by a second batch that waits with the same tokens, is refused', async () => {
    const { fee } = await quoteFor(token)
    const user = await rich(BigInt(fee))
    await site.anvil.rpc('anvil_setCode', [user.address, `0xef0100${site.delegates.gelato.slice(2)}`])
    await site.anvil.rpc('evm_setAutomine', [false])
    const batch = (nonce: bigint) =>
      paying(user, [transfer(BigInt(fee)), increment()], { delegated: true, nonce: nonce << 64n })
    await site.send(await batch(0n))
    // Nodes that estimate on what waits see it by themselves.
    expect([4001, 4211]).toContain((await refusal(await batch(1n)))?.code)
  })

  test('by moving his tokens before the block, gets nothing, and is refused for the day', async () => {
    const { fee } = await quoteFor(token)
    const user = await rich(BigInt(fee))
    await site.anvil.rpc('anvil_setBalance', [user.address, '0xde0b6b3a7640000'])
    const delegated = { delegated: true } as const
    await site.anvil.rpc('anvil_setCode', [user.address, `0xef0100${site.delegates.gelato.slice(2)}`])
    await site.anvil.rpc('evm_setAutomine', [false])
    const calls = [transfer(BigInt(fee)), increment()]
    const { result } = await site.call(
      'relayer_sendTransaction',
      await paying(user, calls, delegated),
      'strict',
    )
    await until(
      async () => (await site.call<Status>('relayer_getStatus', { id: result }, 'strict')).result?.status,
      (status) => status === 110,
    )
    const { data } = transfer(BigInt(fee), { to: `0x${'55'.repeat(20)}` })
    const raw = await user.signTransaction({
      chainId: CHAIN_ID,
      nonce: 0,
      to: token,
      data,
      gas: 100_000n,
      maxFeePerGas: 10n ** 11n,
      maxPriorityFeePerGas: 10n ** 11n,
    })
    await site.anvil.rpc('eth_sendRawTransaction', [raw])
    expect((await ended(result as Hex, 'strict')).status).toBe(500)
    expect(await site.countOf(site.stranger, user.address)).toBe(0n)
    await site.anvil.rpc('evm_setAutomine', [true])
    await mint(user.address, BigInt(fee))
    const next = await paying(user, [...calls, increment()], delegated)
    expect(await refusal(next, 'strict')).toMatchObject({ code: 4203 })
  })

  test('by a token that keeps a part of it only now, is told his success, and it counts as a failure', async () => {
    const { fee } = await quoteFor(greedy)
    const user = await rich(10n ** 10n, greedy)
    const calls = [transfer(BigInt(fee), { of: greedy }), increment()]
    const first = await paying(user, calls, { of: greedy })
    expect(await refusal(first, 'strict')).toMatchObject({
      code: 4200,
      message: expect.stringContaining('the token keeps the rest'),
    })
    // It is honest until the block.
    const code = await site.anvil.rpc<Hex>('eth_getCode', [greedy, 'latest'])
    const becomes = (next: Hex) => site.anvil.rpc('anvil_setCode', [greedy, next])
    await keep(0n)
    await site.anvil.rpc('evm_setAutomine', [false])
    const { result } = await site.call('relayer_sendTransaction', first, 'strict')
    await until(
      async () => (await site.call<Status>('relayer_getStatus', { id: result }, 'strict')).result?.status,
      (status) => status === 110,
    )
    // It accepts every call, says nothing, and moves nothing.
    await becomes('0x600160005260206000f3')
    await site.anvil.rpc('evm_mine')
    await becomes(code)
    await site.anvil.rpc('evm_setAutomine', [true])
    expect((await ended(result as Hex, 'strict')).status).toBe(200)
    const next = await paying(user, calls, { of: greedy, delegated: true, nonce: 1n })
    expect(await refusal(next, 'strict')).toMatchObject({ code: 4203 })
  })
})

/** Where the token has what it keeps of transfers, among its variables. */
const PERCENT_SLOT = '0x5'
const keep = (percent: bigint) =>
  site.anvil.rpc('anvil_setStorageAt', [greedy, PERCENT_SLOT, numberToHex(percent, { size: 32 })])

describe('a price of two sources', () => {
  /** Each call of it returns five words, of which the first one is the decimals as well. */
  const plant = (feed: string, answer: bigint, ageSeconds = 0) => {
    const word = (value: bigint) => numberToHex(BigInt.asUintN(256, value), { size: 32 }).slice(2)
    const at = BigInt(Math.floor(Date.now() / 1000) - ageSeconds)
    const code = `0x7f${word(answer)}6020526008600052${`7f${word(at)}`}60605260a06000f3`
    return site.anvil.rpc('anvil_setCode', [feed, code])
  }
  const told = async () =>
    await site.call<{ rate: number }>('relayer_getFeeData', { chainId: String(CHAIN_ID), token }, 'feeds')
  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['is old', () => plant(COIN_FEED, 2_000_00000000n, 3_700), /s old/],
    ['is not positive', () => plant(COIN_FEED, -1n), /no positive price/],
    ['is of no feed', () => site.anvil.rpc('anvil_setCode', [COIN_FEED, '0x']), /tells no price/],
    ['differs from the other one', () => plant(COIN_FEED, 2_100_00000000n), /differ by more/],
  ])('of which one %s is no price', async (_, happens, message) => {
    await plant(TOKEN_FEED, 1_00000000n)
    await happens()
    expect((await told()).error).toMatchObject({ code: -32603, message: expect.stringMatching(message) })
  })

  test('is the one at which the token is cheaper', async () => {
    await plant(TOKEN_FEED, 1_00000000n, 80_000)
    await plant(COIN_FEED, 2_020_00000000n)
    expect((await told()).result?.rate).toBe(2020)
  })
})

test('A fee is rounded up, and has the margin', () => {
  const price = { numerator: 2_000n, denominator: 1n }
  expect(feeFor(10n ** 18n, { decimals: 6 }, { price, marginPercent: 0 })).toBe(2_000_000_000n)
  expect(feeFor(10n ** 18n, { decimals: 6 }, { price, marginPercent: 10 })).toBe(2_200_000_000n)
  expect(feeFor(1n, { decimals: 6 }, { price, marginPercent: 0 })).toBe(1n)
  expect(feeFor(0n, { decimals: 6 }, { price, marginPercent: 10 })).toBe(0n)
})
