import type { RpcCall, RpcReply } from '../../chains/rpc/rpc.ts'
import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import type { HandlerMap } from '../../http/handler.ts'
import { inactive } from '../../relayers/policies/policy.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import type { RelayerRuntime } from '../../transactions/model/runtime.ts'
import type { Service } from '../service.ts'
import { requireRelayer } from '../transactions/transactions.ts'
import { MOST_CALLS } from './bundles.ts'
import { isWalletMethod } from './methods.ts'
import { isOwnPendingCount } from './nonce.ts'
import type { SigningOperations } from './signing.ts'
import { createSolanaMethods, isSolanaMethod, type SponsoringOperations } from './solana-methods.ts'
import { createWallets, type Wallet, type WalletReply } from './wallet.ts'

/** The id in the answer to a call without one, as existing clients expect. */
const DEFAULT_ID = 1

/** JSON-RPC 2.0: the method does not exist, or is not available. */
const METHOD_NOT_FOUND = -32601

/**
 * JSON-RPC 2.0 §5.1 requires an integer. This replaces the code of a node's error when that is another value.
 */
const INTERNAL_ERROR = -32603

/** No endpoint answered; the code that existing clients know. */
const BAD_GATEWAY = -33002

/** EIP-1474: the request exceeds a limit. */
const LIMIT_EXCEEDED = -32005

/**
 * The operation that passes JSON-RPC calls on to the network of a relayer. A relayer that is a wallet answers
 * the methods of one itself, and one on Solana those of sponsoring, by the operations that do the same.
 */
export function rpcHandlers(
  service: Service,
  operations: SigningOperations & SponsoringOperations,
): Pick<HandlerMap, 'callRpc'> {
  const { relayerOf, runtimeOf } = service
  const solana = createSolanaMethods(service, operations)
  const walletOf = createWallets(service, operations)
  return {
    callRpc: async ({ path, body }, context) => {
      const calls = Array.isArray(body) ? body : [body]
      context.countFurther(unitsOf(calls) - 1)
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const refusal = inactive(relayer)
      if (refusal) throw refusal
      if (!isWritable(body))
        throw new AppError(
          'invalid_request',
          'body: numbers are expected to fit a double or an integer of 400 digits.',
        )
      const runtime = runtimeOf(relayer)
      const wallet = walletOf(relayer, runtime, context)
      const routes = calls.map((call) => routeOf(call, { relayer, runtime, wallet }))
      const [forwarded, sent, answered, ofRelayer] = await Promise.all([
        forward(
          calls.filter((_, at) => routes[at] === 'network'),
          { runtime, wallet },
        ),
        sendPrivately(
          runtime,
          calls.filter((_, at) => routes[at] === 'private'),
        ),
        wallet?.answer(calls.filter((_, at) => routes[at] === 'wallet')),
        solana(
          { relayer, runtime, context },
          calls.filter((_, at) => routes[at] === 'relayer'),
        ),
      ])
      const [ofNetwork, ofPrivate, ofWallet] = [forwarded.values(), sent.values(), answered?.values()]
      const ofSolana = ofRelayer.values()
      const answers = calls.map((call, at) => {
        if (routes[at] === 'network') return presentReply(call, ofNetwork.next().value)
        if (routes[at] === 'private') return presentReply(call, ofPrivate.next().value)
        if (routes[at] === 'relayer') return presentWalletReply(call, ofSolana.next().value)
        return routes[at] === 'wallet' ? presentWalletReply(call, ofWallet?.next().value) : notAllowed(call)
      })
      const { readMethods } = runtime.chain
      const repeatable = calls.every(
        ({ method }, at) => routes[at] !== 'wallet' && readMethods.includes(method),
      )
      return { status: 200, body: Array.isArray(body) ? answers : requireReply(answers[0]), repeatable }
    },
  }
}

/**
 * Counts the calls for the rate limit. A bundle counts for its calls, because each of them is a transaction;
 * a larger one is refused anyway.
 */
function unitsOf(calls: readonly Schemas['RpcCall'][]): number {
  const units = calls.map(({ method, params }) => {
    const bundle: unknown = method === 'wallet_sendCalls' && Array.isArray(params) ? params[0] : undefined
    const { calls: bundled } = Object(bundle) as { readonly calls?: unknown }
    return Array.isArray(bundled) ? Math.min(Math.max(bundled.length, 1), MOST_CALLS) : 1
  })
  return units.reduce((sum, count) => sum + count, 0)
}

interface Destinations {
  readonly runtime: RelayerRuntime
  readonly wallet: Wallet | undefined
}

/**
 * Decides who answers a method; undefined if it is refused. A method that sends bytes goes to the network if
 * the policies name it, and to the private endpoints for a relayer with private transactions; such a relayer
 * forwards only that and methods that read.
 */
function routeOf(
  call: Schemas['RpcCall'],
  { relayer, runtime, wallet }: Destinations & { readonly relayer: Relayer },
): 'network' | 'private' | 'wallet' | 'relayer' | undefined {
  const { method } = call
  if (relayer.networkType === 'solana' && isSolanaMethod(method))
    return (relayer.policies.allowedRpcMethods ?? [method]).includes(method) ? 'relayer' : undefined
  const isAllowed = (relayer.policies.allowedRpcMethods ?? runtime.chain.readMethods).includes(method)
  if (isAllowed && method === SENDS_BYTES) return runtime.isPrivate ? 'private' : 'network'
  if (wallet !== undefined && (isWalletMethod(method) || isOwnPendingCount(call, relayer.address)))
    return 'wallet'
  // A method that does not only read can carry bytes to nodes, regardless of its name.
  if (runtime.isPrivate && !runtime.chain.readMethods.includes(method)) return undefined
  return isAllowed ? 'network' : undefined
}

const SENDS_BYTES = 'eth_sendRawTransaction'

async function forward(
  calls: readonly Schemas['RpcCall'][],
  { runtime, wallet }: Destinations,
): Promise<readonly RpcReply[]> {
  const passed = calls.map(readCall)
  const replies = await runtime.chain.forward(passed)
  return wallet === undefined ? replies : wallet.follow(passed, replies)
}

/** Passes signed bytes on to the private endpoints, one call at a time as callers send them. */
async function sendPrivately(
  { chain: { privateBroadcast } }: RelayerRuntime,
  calls: readonly Schemas['RpcCall'][],
): Promise<readonly RpcReply[]> {
  const read = calls.map(({ params }) => (Array.isArray(params) ? params[0] : undefined))
  const raws = read.filter((raw) => typeof raw === 'string')
  if (privateBroadcast === undefined) return calls.map(() => NO_PRIVATE_ENDPOINT)
  const replies = (raws.length === 0 ? [] : await privateBroadcast.forward(raws)).values()
  return read.map((raw) => (typeof raw === 'string' ? replies.next().value : NO_BYTES) ?? NO_BYTES)
}

const NO_PRIVATE_ENDPOINT: RpcReply = {
  kind: 'error',
  code: INTERNAL_ERROR,
  message: 'The relayer is private, and its network has no private_rpc_urls; nothing was sent.',
}

/** JSON-RPC 2.0: invalid method parameters. */
const INVALID_PARAMS = -32602

const NO_BYTES: RpcReply = {
  kind: 'error',
  code: INVALID_PARAMS,
  message: 'params[0]: the bytes of a signed transaction are expected; nothing was sent.',
}

function presentWalletReply(call: Schemas['RpcCall'], reply: WalletReply | undefined): Schemas['RpcReply'] {
  if (reply === undefined) throw new Error('a call to the wallet has no answer')
  return { ...headOf(call), ...reply }
}

function readCall({ method, params }: Schemas['RpcCall']): RpcCall {
  return params ? { method, params } : { method }
}

function presentReply(call: Schemas['RpcCall'], reply: RpcReply | undefined): Schemas['RpcReply'] {
  if (reply?.kind === 'result') return { ...headOf(call), result: reply.result }
  if (reply?.kind === 'error') {
    const { message, data } = reply
    const code = Number.isSafeInteger(reply.code) ? reply.code : INTERNAL_ERROR
    return { ...headOf(call), error: data === undefined ? { code, message } : { code, message, data } }
  }
  if (reply?.tooLarge === true) {
    const description = `An endpoint answered, and ${reply.detail}. Request less.`
    return { ...headOf(call), error: { code: LIMIT_EXCEEDED, message: 'Answer too large', description } }
  }
  const description = 'No endpoint of the network answered. The call may still have taken effect.'
  return { ...headOf(call), error: { code: BAD_GATEWAY, message: 'Bad gateway', description } }
}

function notAllowed(call: Schemas['RpcCall']): Schemas['RpcReply'] {
  const reason = isWalletMethod(call.method)
    ? '; only an EVM relayer with the policy wallet_rpc answers it'
    : ''
  const description = `This relayer does not forward ${call.method}${reason}.`
  return { ...headOf(call), error: { code: METHOD_NOT_FOUND, message: 'Method not allowed', description } }
}

function headOf({ id }: Schemas['RpcCall']) {
  return { jsonrpc: '2.0', id: id === undefined ? DEFAULT_ID : id } as const
}

/** A batch has at least one call. */
function requireReply(answer: Schemas['RpcReply'] | undefined): Schemas['RpcReply'] {
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
