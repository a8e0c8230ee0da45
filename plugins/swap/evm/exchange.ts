import { type Address, encodeFunctionData, type Hex, hexToBigInt, numberToHex, parseAbi } from 'viem'
import { askEvmSource } from '../../shared/evm-prices.ts'
import { isRecord, NodeError, type Rpc, rpcOf, Unavailable, type World } from '../../shared/host.ts'
import { askHttp } from '../../shared/http-price.ts'
import type { EvmRouter, Swap } from '../config.ts'
import { type Exchange, Refusal, type Sale, type Transfer } from '../exchange.ts'
import { accountOf, coinsOf } from '../relayer.ts'

const TOKEN = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function approve(address spender, uint256 value) returns (bool)',
])

/** Uniswap's SwapRouter02 (https://github.com/Uniswap/swap-router-contracts). */
const ROUTER = parseAbi([
  'struct ExactInputSingle { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }',
  'function exactInputSingle(ExactInputSingle params) payable returns (uint256 amountOut)',
  'function multicall(uint256 deadline, bytes[] data) payable returns (bytes[] results)',
])

const WRAPPED_COIN = parseAbi(['function withdraw(uint256 amount)'])

/** All EVM chains count their coin in 18 decimals. */
const COIN_DECIMALS = 18

/** What `withdraw` of a wrapped coin takes, with what any transaction takes. */
const UNWRAP_GAS = 50_000n

/** The gas limit is what the rehearsal took, and half of that again: the pool moves until the block. */
const GAS_MARGIN = { times: 3n, of: 2n } as const

/** The sale is not signed while gas costs more than the price now and half of that again. */
const PRICE_MARGIN = { times: 3n, of: 2n } as const

/** Makes the market of a swap on an EVM chain. @throws Refusal for a relayer on another chain */
export async function openEvmExchange(swap: Swap<EvmRouter>, world: World): Promise<Exchange> {
  const { relayerId, router, decimals } = swap
  const token = swap.token as Hex
  const rpc = answering(rpcOf(world, relayerId))
  const account = (await accountOf(relayerId, world)).toLowerCase() as Hex
  const chainId = Number(await rpc<Hex>('eth_chainId', []))
  if (chainId !== router.chainId)
    throw new Refusal(
      'wrong_chain',
      `The relayer ${relayerId} is on the chain ${chainId}, not on ${router.chainId}.`,
    )
  const read = async (to: Hex, data: Hex) => {
    const answer = await rpc<Hex>('eth_call', [{ to, data }, 'latest'])
    if (answer.length !== 66) throw new Unavailable(`The contract ${to} does not answer as a token.`)
    return hexToBigInt(answer)
  }
  const allowance = () =>
    read(
      token,
      encodeFunctionData({ abi: TOKEN, functionName: 'allowance', args: [account, router.address] }),
    )
  const saleData = (sale: Sale) => encodeSale(swap, account, sale)

  return {
    router: `eip155:${chainId}:${router.address}`,
    coinDecimals: COIN_DECIMALS,
    async holdings() {
      const [coin, tokens] = await Promise.all([coinsOf(relayerId, world), read(token, balanceOf(account))])
      return { coin, token: tokens }
    },
    ask: (source, now) =>
      source.type === 'http'
        ? askHttp(source, now)
        : askEvmSource(source, { address: token, decimals }, { rpc, now }),
    async rehearse(sale) {
      const [allowed, gasPrice] = await Promise.all([allowance(), rpc<Hex>('eth_gasPrice', [])])
      const approvals = [
        ...(allowed !== 0n && allowed !== sale.amount ? [0n] : []),
        ...(allowed === sale.amount ? [] : [sale.amount]),
      ]
      const steps = [
        ...approvals.map((value) => ({ to: token, data: approveData(router.address, value) })),
        { to: router.address, data: saleData(sale) },
      ]
      const { before, after, gas } = await simulate({ account, steps, token, coin: router.wrappedCoin }, rpc)
      const price = (hexToBigInt(gasPrice) * PRICE_MARGIN.times) / PRICE_MARGIN.of
      const ofSale = gas.at(-1) ?? 0n
      return {
        sold: before.token - after.token,
        bought: after.coin - before.coin,
        cost: (gas.reduce((sum, each) => sum + each, 0n) + UNWRAP_GAS) * price,
        bounds: {
          gas_limit: ((ofSale * GAS_MARGIN.times) / GAS_MARGIN.of).toString(),
          when: { fee_at_most: price.toString() },
        },
      }
    },
    async before(amount) {
      const allowed = await allowance()
      if (allowed === amount) return undefined
      const value = allowed === 0n ? amount : 0n
      return {
        name: allowed === 0n ? 'approve' : 'reset',
        does: `let ${router.address} take exactly ${value} of ${token}`,
        body: { to: token, value: '0', data: approveData(router.address, value) },
        ends: true,
      }
    },
    bodyOf: (sale) => ({ to: router.address, value: '0', data: saleData(sale) }),
    moved: ({ transfers = [] }) => movedIn(transfers, { account, token, coin: router.wrappedCoin }),
    after: (bought) => ({
      name: 'unwrap',
      does: `unwrap ${bought} of ${router.wrappedCoin}`,
      body: {
        to: router.wrappedCoin,
        value: '0',
        data: encodeFunctionData({ abi: WRAPPED_COIN, args: [bought] }),
      },
      ends: false,
    }),
    async cleanup() {
      if ((await allowance()) === 0n) return undefined
      return {
        name: 'revoke',
        does: `let ${router.address} take no more of ${token}`,
        body: { to: token, value: '0', data: approveData(router.address, 0n) },
        ends: false,
      }
    },
  }
}

/** What a node refuses of these questions is no answer. */
function answering(rpc: Rpc): Rpc {
  return <Result>(method: string, params: readonly unknown[] | object) =>
    rpc<Result>(method, params).catch((error: unknown) => {
      throw error instanceof NodeError ? new Unavailable(error.message) : error
    })
}

function balanceOf(account: Address): Hex {
  return encodeFunctionData({ abi: TOKEN, functionName: 'balanceOf', args: [account] })
}

function approveData(spender: Address, value: bigint): Hex {
  return encodeFunctionData({ abi: TOKEN, functionName: 'approve', args: [spender, value] })
}

/** The wrapped coin goes to the account, so that the event of its contract tells what arrived. */
function encodeSale(
  { token, router }: Swap<EvmRouter>,
  recipient: Hex,
  { amount, least, deadline }: Sale,
): Hex {
  const params = {
    tokenIn: token as Hex,
    tokenOut: router.wrappedCoin,
    fee: router.poolFee,
    recipient,
    amountIn: amount,
    amountOutMinimum: least,
    sqrtPriceLimitX96: 0n,
  }
  const swap = encodeFunctionData({ abi: ROUTER, functionName: 'exactInputSingle', args: [params] })
  return encodeFunctionData({
    abi: ROUTER,
    functionName: 'multicall',
    args: [BigInt(Math.floor(deadline / 1000)), [swap]],
  })
}

interface Simulation {
  readonly account: Hex
  readonly steps: readonly { readonly to: Hex; readonly data: Hex }[]
  readonly token: Hex
  readonly coin: Hex
}

/** More than any swap needs. */
const MAX_GAS = 5_000_000n

/** Executes calls of the account one after the other, and reads its balances before and after. */
async function simulate({ account, steps, token, coin }: Simulation, rpc: Rpc) {
  const looks = [token, coin].map((to) => ({ from: account, to, data: balanceOf(account) }))
  const made = steps.map((step) => ({ from: account, gas: numberToHex(MAX_GAS), ...step }))
  const calls = [...looks, ...made, ...looks]
  const blocks = await rpc<unknown>('eth_simulateV1', [{ blockStateCalls: [{ calls }] }, 'latest'])
  const told: unknown = Array.isArray(blocks) && isRecord(blocks[0]) ? blocks[0].calls : undefined
  if (!Array.isArray(told) || told.length !== calls.length)
    throw new Unavailable('No node simulates the swap (eth_simulateV1).')
  const results = told.map(readResult)
  const failed = results.findIndex(({ ok }) => !ok)
  if (failed >= 0) {
    const isSale = failed === looks.length + steps.length - 1
    throw new Refusal(
      isSale ? 'arrives_too_little' : 'simulation_failed',
      isSale
        ? 'The router does not swap at the price of both sources now: the simulation reverts.'
        : 'The approval or the balance of the token fails in the simulation.',
    )
  }
  const wordAt = (index: number) => results.at(index)?.word ?? 0n
  return {
    before: { token: wordAt(0), coin: wordAt(1) },
    after: { token: wordAt(-2), coin: wordAt(-1) },
    gas: results.slice(looks.length, looks.length + steps.length).map(({ gas }) => gas),
  }
}

function readResult(result: unknown) {
  const { status, returnData, gasUsed } = isRecord(result) ? result : {}
  const word = typeof returnData === 'string' && returnData.length === 66 ? BigInt(returnData) : undefined
  return {
    ok: status === '0x1',
    word,
    gas: typeof gasUsed === 'string' ? BigInt(gasUsed) : MAX_GAS,
  }
}

/** Adds up what the events of a block move between the account and others. Pure. */
function movedIn(
  transfers: readonly Transfer[],
  { account, token, coin }: { readonly account: Hex; readonly token: Hex; readonly coin: Hex },
) {
  const sum = (asset: Hex, side: 'from' | 'to') =>
    transfers
      .filter(
        (each) => each.expected !== true && each.asset === asset && each[side]?.toLowerCase() === account,
      )
      .reduce((total, { amount }) => total + BigInt(amount), 0n)
  return {
    sold: sum(token, 'from') - sum(token, 'to'),
    bought: sum(coin, 'to') - sum(coin, 'from'),
  }
}
