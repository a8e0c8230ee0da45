import type { Chain } from '../../chains/chain.ts'
import type { RpcReply } from '../../chains/rpc/rpc.ts'
import type { RpcAnswer, RpcCall } from './front.ts'

/**
 * JSON-RPC 2.0 §5.1 requires an integer. This replaces the code of a node's error when that is another value.
 */
const INTERNAL_ERROR = -32603

/** No endpoint answered; the code that existing clients know. */
const BAD_GATEWAY = -33002

/** EIP-1474: the request exceeds a limit. */
const LIMIT_EXCEEDED = -32005

/** JSON-RPC 2.0: invalid method parameters. */
const INVALID_PARAMS = -32602

/** Passes calls on to nodes of a network. The answers are in the order of the calls. */
export async function forward(
  chain: Pick<Chain, 'forward'>,
  calls: readonly Pick<RpcCall, 'method' | 'params'>[],
): Promise<readonly RpcAnswer[]> {
  if (calls.length === 0) return []
  const replies = await chain.forward(
    calls.map(({ method, params }) => (params ? { method, params } : { method })),
  )
  return calls.map((_, at) => presentReply(replies[at]))
}

/** Passes signed bytes on to the private endpoints, one call at a time as callers send them. */
export async function sendPrivately(
  { privateBroadcast }: Pick<Chain, 'privateBroadcast'>,
  calls: readonly RpcCall[],
): Promise<readonly RpcAnswer[]> {
  if (privateBroadcast === undefined) return calls.map(() => presentReply(NO_PRIVATE_ENDPOINT))
  const read = calls.map(({ params }) => (Array.isArray(params) ? params[0] : undefined))
  const raws = read.filter((raw) => typeof raw === 'string')
  const replies = (raws.length === 0 ? [] : await privateBroadcast.forward(raws)).values()
  return read.map((raw) => presentReply(typeof raw === 'string' ? replies.next().value : NO_BYTES))
}

const NO_PRIVATE_ENDPOINT: RpcReply = {
  kind: 'error',
  code: INTERNAL_ERROR,
  message: 'The relayer is private, and its network has no private_rpc_urls; nothing was sent.',
}

const NO_BYTES: RpcReply = {
  kind: 'error',
  code: INVALID_PARAMS,
  message: 'params[0]: the bytes of a signed transaction are expected; nothing was sent.',
}

function presentReply(reply: RpcReply | undefined): RpcAnswer {
  if (reply?.kind === 'result') return { result: reply.result }
  if (reply?.kind === 'error') {
    const { message, data } = reply
    const code = Number.isSafeInteger(reply.code) ? reply.code : INTERNAL_ERROR
    return { error: data === undefined ? { code, message } : { code, message, data } }
  }
  if (reply?.tooLarge === true) {
    const description = `An endpoint answered, and ${reply.detail}. Request less.`
    return { error: { code: LIMIT_EXCEEDED, message: 'Answer too large', description } }
  }
  const description = 'No endpoint of the network answered. The call may still have taken effect.'
  return { error: { code: BAD_GATEWAY, message: 'Bad gateway', description } }
}
