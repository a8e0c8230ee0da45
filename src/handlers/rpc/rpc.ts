import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import type { HandlerMap } from '../../http/handler.ts'
import { inactive } from '../../relayers/policies/policy.ts'
import { requireRelayer } from '../transactions/transactions.ts'
import {
  type ClientParts,
  createSponsoringClient,
  createWalletClient,
  type RelayerRequest,
} from './client.ts'
import type { RpcAnswer, RpcCall, RpcFront, SponsoringClient, WalletClient, WalletFront } from './front.ts'
import { forward, sendPrivately } from './nodes.ts'

/** The id in the answer to a call without one, as existing clients expect. */
const DEFAULT_ID = 1

/** JSON-RPC 2.0: the method does not exist, or is not available. */
const METHOD_NOT_FOUND = -32601

/** The protocols whose methods relayers answer themselves. */
export interface Fronts {
  /** Answers for EVM relayers with the policy `wallet_rpc`. */
  readonly wallet: WalletFront
  /** Answers for relayers on networks whose clients let the service compose transfers of tokens. */
  readonly sponsoring: RpcFront<SponsoringClient>
}

/** The parts that answer calls. */
type RpcParts = ClientParts & Fronts

/**
 * The operation that passes JSON-RPC calls on to the network of a relayer. It decides who answers which
 * method: nodes, or a front.
 */
export function rpcHandlers(parts: RpcParts): Pick<HandlerMap, 'callRpc'> {
  const { relayerOf, runtimeOf, wallet } = parts
  return {
    callRpc: async ({ path, body }, context) => {
      const calls = Array.isArray(body) ? body : [body]
      context.countFurther(calls.reduce((sum, call) => sum + wallet.unitsOf(call), 0) - 1)
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const refusal = inactive(relayer)
      if (refusal) throw refusal
      if (!isWritable(body))
        throw new AppError(
          'invalid_request',
          'body: numbers are expected to fit a double or an integer of 400 digits.',
        )
      const runtime = runtimeOf(relayer)
      const routeOf = createRoutes(parts, { relayer, runtime, context })
      const routed = calls.map((call): Routed => ({ call, route: routeOf(call) }))
      const answers = await answerAll(routed)
      const { readMethods } = runtime.chain
      return {
        status: 200,
        body: Array.isArray(body) ? answers : requireAnswer(answers[0]),
        repeatable: routed.every(({ call, route }) => !route.changes && readMethods.includes(call.method)),
      }
    },
  }
}

/** Answers calls, in their order. */
interface Route {
  /** The answers can change something, whatever their methods are called. */
  readonly changes: boolean
  answer(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]>
}

/** A call, and what answers it. */
interface Routed {
  readonly call: RpcCall
  readonly route: Route
}

/** Calls with one route are answered together. The answers are in the order of the calls. */
async function answerAll(routed: readonly Routed[]): Promise<Schemas['RpcReply'][]> {
  const answers = new Map<Routed, RpcAnswer | undefined>()
  const groups = Map.groupBy(routed, ({ route }) => route)
  await Promise.all(
    [...groups].map(async ([route, own]) => {
      const replies = await route.answer(own.map(({ call }) => call))
      for (const [at, one] of own.entries()) answers.set(one, replies[at])
    }),
  )
  return routed.map((one) => ({ ...headOf(one.call), ...requireAnswer(answers.get(one)) }))
}

const SENDS_BYTES = 'eth_sendRawTransaction'

/**
 * Creates the choice of what answers a call to this relayer. A method that sends bytes goes to the network if
 * the policies name it, and to the private endpoints for a relayer with private transactions; such a relayer
 * forwards only that and methods that read.
 */
function createRoutes(parts: RpcParts, request: RelayerRequest): (call: RpcCall) => Route {
  const { wallet, sponsoring } = parts
  const { relayer, runtime } = request
  const { chain, isPrivate } = runtime
  const { allowedRpcMethods } = relayer.policies
  const client = walletClientOf(parts, request)
  const network: Route = {
    changes: false,
    answer: async (calls) => {
      const answers = await forward(chain, calls)
      return client === undefined ? answers : wallet.follow(client, calls, answers)
    },
  }
  const privately: Route = { changes: false, answer: (calls) => sendPrivately(chain, calls) }
  const asWallet: Route | undefined = client && {
    changes: true,
    answer: (calls) => wallet.answer(client, calls),
  }
  const asSponsor: Route | undefined = chain.sponsoring?.transferOf && {
    changes: true,
    answer: (calls) => sponsoring.answer(createSponsoringClient(parts, request), calls),
  }
  const nothing: Route = {
    changes: false,
    answer: async (calls) => calls.map((call) => notAllowed(call, wallet)),
  }
  return (call) => {
    const { method } = call
    if (asSponsor !== undefined && sponsoring.methods.has(method))
      return (allowedRpcMethods ?? [method]).includes(method) ? asSponsor : nothing
    const isAllowed = (allowedRpcMethods ?? chain.readMethods).includes(method)
    if (isAllowed && method === SENDS_BYTES) return isPrivate ? privately : network
    if (
      asWallet !== undefined &&
      (wallet.methods.has(method) || wallet.answersInstead(call, relayer.address))
    )
      return asWallet
    // A method that does not only read can carry bytes to nodes, regardless of its name.
    if (isPrivate && !chain.readMethods.includes(method)) return nothing
    return isAllowed ? network : nothing
  }
}

/** Undefined for a relayer whose policy does not let it be a wallet. */
function walletClientOf(parts: RpcParts, request: RelayerRequest): WalletClient | undefined {
  const { policies } = request.relayer
  const { network } = request.runtime
  const isWallet = 'walletRpc' in policies && policies.walletRpc === true
  return isWallet && 'chainId' in network ? createWalletClient(parts, request, network.chainId) : undefined
}

function notAllowed({ method }: RpcCall, wallet: WalletFront): RpcAnswer {
  const reason = wallet.methods.has(method)
    ? '; only an EVM relayer with the policy wallet_rpc answers it'
    : ''
  const description = `This relayer does not forward ${method}${reason}.`
  return { error: { code: METHOD_NOT_FOUND, message: 'Method not allowed', description } }
}

function headOf({ id }: RpcCall) {
  return { jsonrpc: '2.0', id: id === undefined ? DEFAULT_ID : id } as const
}

/** Each call has an answer, and a batch has at least one call. */
function requireAnswer<T>(answer: T | undefined): T {
  if (answer === undefined) throw new Error('a call of the batch has no answer')
  return answer
}

/**
 * Returns false for a value that JSON cannot write: the reader of bodies turns a number that it cannot
 * represent into Infinity or NaN.
 */
function isWritable(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(isWritable)
}
