import type { RpcCall, RpcReply } from '../chains/rpc/rpc.ts'
import type { HandlerMap, Schemas } from '../contract/operations.ts'
import { AppError } from '../errors.ts'
import { inactive } from '../relayers/policy.ts'
import type { RelayerReader } from '../relayers/read.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import { requireRelayer } from './transactions.ts'

interface RpcHandlerDeps {
  readonly relayerOf: RelayerReader
  readonly runtimeOf: (relayer: Relayer) => RelayerRuntime
}

/** The id in the answer to a call without one, as existing clients expect. */
const DEFAULT_ID = 1

/** JSON-RPC 2.0: the method does not exist, or is not available. */
const METHOD_NOT_FOUND = -32601

/** JSON-RPC 2.0 §5.1 wants an integer. This replaces the code of a node's error when that is another value. */
const INTERNAL_ERROR = -32603

/** No endpoint answered; the code that existing clients know. */
const BAD_GATEWAY = -33002

/** EIP-1474: the request exceeds a limit. */
const LIMIT_EXCEEDED = -32005

/** The operation that passes JSON-RPC calls on to the network of a relayer. */
export function rpcHandlers({ relayerOf, runtimeOf }: RpcHandlerDeps): Pick<HandlerMap, 'callRpc'> {
  return {
    callRpc: async ({ path, body }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const refusal = inactive(relayer)
      if (refusal) throw refusal
      if (!isWritable(body))
        throw new AppError(
          'invalid_request',
          'body: numbers are expected to be such as a double or an integer of 400 digits can hold.',
        )
      const { chain } = runtimeOf(relayer)
      const allowed = new Set(relayer.policies.allowedRpcMethods ?? chain.readMethods)
      const calls = Array.isArray(body) ? body : [body]
      const passed = calls.filter(({ method }) => allowed.has(method))
      const replies = (await chain.forward(passed.map(readCall))).values()
      const answers = calls.map((call) =>
        allowed.has(call.method) ? presentReply(call, replies.next().value) : notAllowed(call),
      )
      return { status: 200, body: Array.isArray(body) ? answers : requireReply(answers[0]) }
    },
  }
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
    const description = `An endpoint answered, and ${reply.detail}. Ask for less at once.`
    return { ...headOf(call), error: { code: LIMIT_EXCEEDED, message: 'Answer too large', description } }
  }
  const description =
    'No endpoint of the network answered. What the call does may have been done all the same.'
  return { ...headOf(call), error: { code: BAD_GATEWAY, message: 'Bad gateway', description } }
}

function notAllowed(call: Schemas['RpcCall']): Schemas['RpcReply'] {
  const description = `This relayer does not pass ${call.method} on.`
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

/** Returns false for a value that JSON cannot write: the reader of bodies turns a number that it cannot represent into Infinity or NaN. */
function isWritable(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(isWritable)
}
