import type { RpcReply } from './rpc.ts'

type NodeError = Extract<RpcReply, { kind: 'error' }>

/** How the nodes and the providers of one chain report their own failures as JSON-RPC errors. Codes mean different things per chain. */
export interface NodeErrorRules {
  /** Codes that mean "asked too often" and nothing else. */
  readonly rateLimitCodes: readonly number[]
  /** Codes that some providers use for "asked too often" and some nodes for a fault of the call: the message decides. */
  readonly ambiguousRateLimitCodes: readonly number[]
  readonly rateLimitPhrase: RegExp
  /** Messages about the call itself, under an ambiguous code. */
  readonly callFaultPhrase?: RegExp
  /** Codes of a node that cannot work at present, whatever the call is. */
  readonly failureCodes: readonly number[]
  readonly failurePhrase: RegExp
  /** Codes and messages of a node that lacks the data, where another one may have it. */
  readonly missingDataCodes: readonly number[]
  readonly missingDataPhrase?: RegExp
}

/**
 * What an error says. `rate_limit`: nobody looked at the call · `endpoint_failure`: the node cannot work now · `missing_data`: it works,
 * but another one may know more · `answer`: the node's answer to the call, which every other node would repeat.
 */
export type NodeErrorClass = 'rate_limit' | 'endpoint_failure' | 'missing_data' | 'answer'

/** Phrases that proxies and providers use on every chain. */
export const COMMON_RATE_LIMIT_PHRASE =
  /rate.?limit|too many requests|request (count|limit)|(capacity|quota|throughput) (was |is )?exceeded|throttl/i

/** Phrases of proxies and of servers in trouble, on every chain. */
export const COMMON_FAILURE_PHRASE =
  /^internal (server )?error\W*$|upstream|temporarily|(service|resource|node|backend) (is )?(currently )?(unavailable|not available)|(request|operation|gateway|connection) (has )?timed? ?out/i

/** What the reply of a node to one of our own questions says about the node. */
export function classifyNodeError(reply: RpcReply, rules: NodeErrorRules): NodeErrorClass | undefined {
  if (reply.kind !== 'error') return undefined
  if (isContractsOwn(reply)) return 'answer'
  if (isRateLimit(reply, rules)) return 'rate_limit'
  if (rules.failureCodes.includes(reply.code) || rules.failurePhrase.test(reply.message))
    return 'endpoint_failure'
  const lacksData =
    rules.missingDataCodes.includes(reply.code) || rules.missingDataPhrase?.test(reply.message)
  return lacksData ? 'missing_data' : 'answer'
}

/**
 * The same for a call that a caller of the API wrote. A caller can provoke most codes and have words of his own echoed, so only a
 * code that means nothing but a rate limit is one.
 */
export function classifyForwardedError(reply: RpcReply, rules: NodeErrorRules): NodeErrorClass | undefined {
  const known = classifyNodeError(reply, rules)
  if (known !== 'rate_limit' || reply.kind !== 'error') return known
  return rules.rateLimitCodes.includes(reply.code) ? 'rate_limit' : 'endpoint_failure'
}

/** A contract may say anything when it reverts; its words are not the endpoint's. */
function isContractsOwn({ code, message }: NodeError): boolean {
  return code === 3 || /revert/i.test(message)
}

function isRateLimit({ code, message }: NodeError, rules: NodeErrorRules): boolean {
  if (rules.rateLimitCodes.includes(code)) return true
  if (rules.callFaultPhrase?.test(message)) return false
  return rules.ambiguousRateLimitCodes.includes(code) || rules.rateLimitPhrase.test(message)
}
