import { type Hex, numberToHex, zeroAddress } from 'viem'
import { isRecord, type World } from '../shared/host.ts'
import type { Settings } from './config.ts'
import { readSend7710 } from './delegations/wire.ts'
import { invalid, RpcError } from './errors.ts'
import { type FeeContext, feeFor, feeTokenOf, quote, readGasPrice } from './fees/fee.ts'
import type { Quote } from './fees/quote.ts'
import type { FeeToken } from './fees/tokens.ts'
import { awaitStatus, findRequest, readStatus } from './progress.ts'
import { check, send } from './send.ts'
import { networkOf, senderOn } from './sender.ts'
import { asDraft, isTerminal, type RelayStatus } from './status.ts'
import { addressOf, integerOf, readChainId, readId, readParams, readSend } from './wire.ts'

/** One call of a method. */
export interface MethodCall {
  readonly world: World
  readonly settings: Settings
  readonly params: unknown
  /** The id of the API key that asks; all callers without one share another. */
  readonly caller: string
}

/** Answers a call. @throws RpcError, and the errors of the service */
export async function answer(method: string, call: MethodCall): Promise<unknown> {
  const known = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
  if (known === undefined)
    throw new RpcError('methodNotFound', `The method ${method.slice(0, 60)} does not exist.`)
  return known(call)
}

const METHODS: Readonly<Record<string, (call: MethodCall) => Promise<unknown>>> = {
  relayer_getCapabilities: async ({ params, settings, world }) => {
    const asked = readAskedChains(params)
    const networks = [...settings.networks.values()].filter(
      ({ chainId }) => asked === undefined || asked.includes(chainId),
    )
    const entries = networks.map(async (network) => {
      const { chainId, entryPoints, factories, delegationManagers, feeTokens, feeCollector } = network
      const tokens = [...feeTokens.values()].map(({ address, decimals }) => ({ address, decimals }))
      const shown = { feeCollector, tokens }
      if (entryPoints.size + delegationManagers.size === 0) return [String(chainId), shown] as const
      const { address, own } = await senderOn(network, world)
      const entries = {
        ...shown,
        ...(entryPoints.size > 0 && { entryPoints: [...entryPoints.keys()], beneficiary: address }),
        ...(factories.size > 0 && { factories: [...factories.keys()] }),
        // A delegation names the one account that uses it.
        ...(delegationManagers.size > 0 &&
          own.size === 1 && {
            delegationManagers: [...delegationManagers.keys()],
            targetAddress: address,
          }),
      }
      return [String(chainId), entries] as const
    })
    return Object.fromEntries(await Promise.all(entries))
  },
  relayer_getFeeData: async (call) => {
    const { chainId, token, context } = await readFee(call)
    const { price, gasPrice, expiry, context: name } = await quoteFor(token, context)
    return {
      ...headOf(chainId, token, expiry),
      rate: Number(price.numerator) / Number(price.denominator),
      minFee: '0',
      gasPrice: numberToHex(gasPrice),
      ...(name !== undefined && { context: name }),
    }
  },
  relayer_getFeeQuote: async (call) => {
    const { chainId, token, context, fields } = await readFee(call)
    const { price, gasPrice, expiry, context: name } = await quoteFor(token, context)
    // In the coin of the chain, the application pays.
    if (token === undefined) return { ...headOf(chainId, token, expiry), fee: '0' }
    const wei = integerOf(fields.gas, 'gas') * gasPrice + integerOf(fields.l1Fee ?? 0, 'l1Fee')
    const fee = feeFor(wei, token, { price, marginPercent: context.network.marginPercent })
    return { ...headOf(chainId, token, expiry), fee: fee.toString(), context: name }
  },
  relayer_sendTransaction: async ({ params, settings, world, caller }) => {
    const { id } = await send({ ...readSend(readParams(params)), caller }, settings, world)
    return id
  },
  relayer_send7710Transaction: async ({ params, settings, world, caller }) => {
    const fields = readParams(params)
    const network = networkOf(readChainId(fields.chainId), settings)
    const { id } = await send({ ...readSend7710(fields, network), caller }, settings, world)
    return id
  },
  relayer_sendTransactionSync: async ({ params, settings, world, caller }) => {
    const { timeoutMs = settings.timeoutMs, ...order } = readSend(readParams(params))
    const deadline = world.now() + Math.min(timeoutMs, settings.timeoutMs)
    const followed = await send({ ...order, caller }, settings, world)
    const late = new RpcError(
      'timeout',
      'It is accepted, and not included yet. Ask for its status.',
      followed.id,
    )
    try {
      const status = await awaitStatus({ followed, deadline }, settings, world)
      if (isTerminal(status)) return asDraft(status)
    } catch (error) {
      // It is accepted, whatever cannot be read of it now.
      console.error(error)
    }
    throw late
  },
  relayer_sendTransactionMultichain: async ({ params, settings, world, caller }) => {
    if (!Array.isArray(params) || params.length < 2 || params.length > MAX_CHAINS)
      throw new RpcError('multichain', `params: expected 2 to ${MAX_CHAINS} requests.`)
    const orders = params.map((each: unknown) => ({ ...readSend(readParams(each)), caller }))
    // Nothing is sent before all can be.
    for (const order of orders) await check(order, settings, world)
    const ids: Hex[] = []
    for (const order of orders) {
      try {
        ids.push((await send(order, settings, world)).id)
      } catch (error) {
        if (ids.length === 0 || !(error instanceof RpcError)) throw error
        const message = `The request ${ids.length + 1} is refused after those before it were accepted: ${error.message}`
        throw new RpcError('multichain', message, { accepted: ids })
      }
    }
    return ids
  },
  relayer_getStatus: async (call) => asDraft(await statusFor(call)),
  gelato_getStatus: async (call) => statusFor(call),
}

/** The most requests of `relayer_sendTransactionMultichain`. */
const MAX_CHAINS = 10

/** The price of gas is told for so many seconds. */
const FEE_SECONDS = 60

/** A list of ids in the draft, nothing in Gelato's dialect. */
function readAskedChains(params: unknown): readonly number[] | undefined {
  if (params === undefined || params === null || isRecord(params)) return undefined
  if (!Array.isArray(params)) throw invalid('params: expected a list of chain ids.')
  const asked: readonly unknown[] = params.length === 1 && Array.isArray(params[0]) ? params[0] : params
  return asked.length === 0 ? undefined : asked.map((each) => readChainId(each))
}

/** Reads what a question about fees asks for: the coin of the chain, which nobody pays, or a token. */
async function readFee({ params, settings, world }: MethodCall) {
  const fields = readParams(params)
  const chainId = readChainId(fields.chainId)
  const network = networkOf(chainId, settings)
  const address = addressOf(fields.token ?? zeroAddress, 'token')
  const token = address === zeroAddress ? undefined : feeTokenOf(address, network)
  const context: FeeContext = { ...(await senderOn(network, world)), world }
  return { chainId, token, context, fields }
}

interface CoinQuote extends Omit<Quote, 'context'> {
  readonly context?: string
}

async function quoteFor(token: FeeToken | undefined, context: FeeContext): Promise<CoinQuote> {
  if (token !== undefined) return quote(token, context)
  const gasPrice = BigInt(await readGasPrice(context.rpc))
  const expiry = Math.floor(context.world.now() / 1000) + FEE_SECONDS
  return { gasPrice, price: { numerator: 1n, denominator: 1n }, expiry }
}

function headOf(chainId: number, token: FeeToken | undefined, expiry: number) {
  const { address = zeroAddress, decimals = 18 } = token ?? {}
  return { chainId: String(chainId), token: { address, decimals }, expiry }
}

async function statusFor({ params, settings, world, caller }: MethodCall): Promise<RelayStatus> {
  const id = readId(readParams(params))
  return readStatus(await findRequest({ id, caller }, settings, world), settings, world)
}
