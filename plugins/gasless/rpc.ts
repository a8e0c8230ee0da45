import { type Hex, zeroAddress } from 'viem'
import { isRecord, NodeError, Unavailable, type World } from '../shared/host.ts'
import type { Settings } from './config.ts'
import { invalid, RpcError } from './errors.ts'
import { awaitStatus, findRequest, readStatus } from './progress.ts'
import { check, send } from './send.ts'
import { networkOf, senderOn } from './sender.ts'
import { asDraft, isTerminal, type RelayStatus } from './status.ts'
import { addressOf, readChainId, readId, readParams, readSend } from './wire.ts'

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
      const shown = { feeCollector: settings.feeCollector, tokens: [] }
      const { chainId, entryPoints } = network
      if (entryPoints.size === 0) return [String(chainId), shown] as const
      const { address: beneficiary } = await senderOn(network, world)
      return [String(chainId), { ...shown, entryPoints: [...entryPoints.keys()], beneficiary }] as const
    })
    return Object.fromEntries(await Promise.all(entries))
  },
  relayer_getFeeData: async (call) => {
    const { chainId, head } = await readFee(call)
    const { rpc } = await senderOn(networkOf(chainId, call.settings), call.world)
    const gasPrice = await rpc<Hex>('eth_gasPrice', []).catch((error: unknown) => {
      throw error instanceof NodeError ? new Unavailable(error.message) : error
    })
    return { ...head, rate: 1, minFee: '0', gasPrice }
  },
  relayer_getFeeQuote: async (call) => {
    const { head } = await readFee(call)
    // The application pays.
    return { ...head, fee: '0' }
  },
  relayer_sendTransaction: async ({ params, settings, world, caller }) => {
    const { id } = await send({ ...readSend(readParams(params)), caller }, settings, world)
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

/** Fees are told for so many seconds. */
const FEE_SECONDS = 60

/** A list of ids in the draft, nothing in Gelato's dialect. */
function readAskedChains(params: unknown): readonly number[] | undefined {
  if (params === undefined || params === null || isRecord(params)) return undefined
  if (!Array.isArray(params)) throw invalid('params: expected a list of chain ids.')
  const asked: readonly unknown[] = params.length === 1 && Array.isArray(params[0]) ? params[0] : params
  return asked.length === 0 ? undefined : asked.map((each) => readChainId(each))
}

/** Reads what a question about fees asks for: only the coin of the chain, because users pay nothing. */
async function readFee({ params, settings, world }: MethodCall) {
  const fields = readParams(params)
  const chainId = readChainId(fields.chainId)
  networkOf(chainId, settings)
  const token = addressOf(fields.token ?? zeroAddress, 'token')
  if (token !== zeroAddress)
    throw new RpcError('unsupportedPaymentToken', 'token: no token pays fees; the relayer pays them.')
  const expiry = Math.floor(world.now() / 1000) + FEE_SECONDS
  return { chainId, head: { chainId: String(chainId), token: { address: token, decimals: 18 }, expiry } }
}

async function statusFor({ params, settings, world, caller }: MethodCall): Promise<RelayStatus> {
  const id = readId(readParams(params))
  return readStatus(await findRequest({ id, caller }, settings, world), settings, world)
}
